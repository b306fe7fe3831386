import { CribError } from '../model/crib-error.ts';
import type { ImportedConfig, ImportedRegistration } from '../sources/import/read-import.ts';
import { readManifest } from '../sources/mcp/registration/manifest.ts';
import { normaliseSource } from '../sources/registration/normalise-source.ts';
import { showSource } from '../sources/registration/show-source.ts';
import { sourceFormSchema } from '../sources/registration/source-form.ts';
import { align } from './align.ts';
import { commandLine } from './describe-source.ts';
import { lineWidth, paint } from './terminal.ts';

/** One server of a file: what would be registered, or why it cannot be. */
export interface PlannedSource {
  entry: string;
  namespace: string | null;
  /** The command or the address, without secrets. */
  starts: string | null;
  enabled: boolean;
  notes: string[];
  problem: string | null;
}

/** What the server would make of each entry, found out without asking it. */
export async function importPlan({ registrations, problems }: ImportedConfig): Promise<PlannedSource[]> {
  const bad = problems.map(({ entry, message }) => refused(entry, message));
  return [...(await Promise.all(registrations.map(planned))), ...bad];
}

async function planned({ entry, form, notes }: ImportedRegistration): Promise<PlannedSource> {
  try {
    const context = {
      readManifest,
      secretName: (variable: string) => variable,
      allowRisky: true,
      allowedMounts: 'any' as const,
      preview: true,
    };
    const normalised = await normaliseSource(sourceFormSchema.parse(form), context);
    const { namespace, enabled } = normalised;
    return { entry, namespace, starts: startsOf(normalised), enabled, notes, problem: null };
  } catch (error) {
    if (!(error instanceof CribError)) throw error;
    return refused(entry, error.message);
  }
}

function refused(entry: string, problem: string): PlannedSource {
  return { entry, namespace: null, starts: null, enabled: false, notes: [], problem };
}

function startsOf(source: Parameters<typeof showSource>[0]): string {
  const shown = showSource(source);
  if (!('document' in shown)) return shown.server_url ?? commandLine(shown.command);
  return 'url' in shown.document ? shown.document.url : 'HTTP tools of the manual';
}

export function planTable(plan: readonly PlannedSource[]): string {
  const rows = plan.map(({ entry, namespace, starts, enabled, problem }) => {
    const says = problem === null ? `${starts}${enabled ? '' : ' (disabled)'}` : `cannot be registered: ${problem}`;
    return [entry, namespace ?? '-', says];
  });
  const painter = (text: string, column: number, row: number) => {
    if (column === 2 && plan[row]?.problem !== null) return paint('red', text);
    return column === 1 ? paint('bold', text) : text;
  };
  const notes = plan.flatMap((planned) => planned.notes.map((note) => `${planned.namespace ?? planned.entry}: ${note}`));
  return [...align(rows, { width: lineWidth(), paint: painter }), ...notes].join('\n');
}
