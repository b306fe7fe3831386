import { CribError } from '../model/crib-error.ts';
import { mcpRegistrationSchema, type McpRegistrationInput } from '../sources/mcp/registration/forms.ts';
import type { ImportedConfig } from '../sources/mcp/registration/import-config.ts';
import { readManifest } from '../sources/mcp/registration/manifest.ts';
import { normaliseRegistration } from '../sources/mcp/registration/normalise.ts';
import { align } from './align.ts';
import { commandLine } from './describe-source.ts';
import { lineWidth, paint } from './terminal.ts';

/** One server of a file: what would be registered, or why it cannot be. */
export interface PlannedSource {
  entry: string;
  namespace: string | null;
  /** The command or the address, without secrets. */
  starts: string | null;
  form: McpRegistrationInput | null;
  problem: string | null;
}

/** What the server would make of each entry, found out without asking it. */
export async function importPlan({ registrations, problems }: ImportedConfig): Promise<PlannedSource[]> {
  const bad = problems.map(({ entry, message }) => ({ entry, namespace: null, starts: null, form: null, problem: message }));
  return [...(await Promise.all(registrations.map(planned))), ...bad];
}

async function planned({ entry, form }: ImportedConfig['registrations'][number]): Promise<PlannedSource> {
  try {
    const context = {
      readManifest,
      secretName: (variable: string) => variable,
      allowRisky: true,
      allowedMounts: 'any' as const,
      preview: true,
    };
    const { namespace, definition } = await normaliseRegistration(mcpRegistrationSchema.parse(form), context);
    return { entry, namespace, starts: definition.server_url ?? commandLine(definition.command), form, problem: null };
  } catch (error) {
    if (!(error instanceof CribError)) throw error;
    return { entry, namespace: null, starts: null, form: null, problem: error.message };
  }
}

export function planTable(plan: readonly PlannedSource[]): string {
  const rows = plan.map(({ entry, namespace, starts, problem }) => [entry, namespace ?? '-', starts ?? `cannot be registered: ${problem}`]);
  const painter = (text: string, column: number, row: number) => {
    if (column === 2 && plan[row]?.problem !== null) return paint('red', text);
    return column === 1 ? paint('bold', text) : text;
  };
  return align(rows, { width: lineWidth(), paint: painter }).join('\n');
}
