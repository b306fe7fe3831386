import { z } from 'zod';
import { CribError } from '../model/crib-error.ts';
import type { ImportedConfig, ImportedRegistration } from '../sources/import/read-import.ts';
import { sourceFormSchema } from '../sources/source-forms.ts';
import { normaliseSource, showSource } from '../sources/source-registrations.ts';
import { align } from '../text/align.ts';
import { shellCommand } from '../text/shell-command.ts';
import { lineWidth, paint } from './terminal.ts';

const startedSchema = z.looseObject({
  command: z.array(z.string()).optional(),
  server_url: z.string().nullable(),
  document: z.looseObject({ url: z.string().optional() }).optional(),
});

/** One server of a file: what would be registered, or why not. */
export interface PlannedSource {
  entry: string;
  namespace: string | null;
  /** The command or the address, without secrets. */
  starts: string | null;
  enabled: boolean;
  notes: string[];
  problem: string | null;
}

/** What the server would register for each entry, without asking the server. */
export async function importPlan({ registrations, problems }: ImportedConfig): Promise<PlannedSource[]> {
  const bad = problems.map(({ entry, message }) => refused(entry, message));
  return [...(await Promise.all(registrations.map(planned))), ...bad];
}

async function planned({ entry, form, notes }: ImportedRegistration): Promise<PlannedSource> {
  try {
    const context = {
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
  const { command = [], server_url, document } = startedSchema.parse(showSource(source));
  return server_url ?? document?.url ?? (command.length > 0 ? shellCommand(command) : 'HTTP tools of the manual');
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
