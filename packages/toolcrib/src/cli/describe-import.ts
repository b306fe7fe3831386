import { z } from 'zod';
import type { CommandLine } from '../sources/registration/command-line.ts';
import { escapeHidden } from '../inventory/hidden-characters.ts';
import { printable } from '../text/printable.ts';

const count = z.number().catch(0);
// Looser than the contract: a newer server may say more than we know of.
const importSchema = z.looseObject({
  format: z.string().catch(''),
  operations: count,
  tools: count,
  tokens: count,
  skipped: z.array(z.looseObject({ operation: z.string(), reason: z.string() })).catch([]),
  skipped_total: count,
  warnings_total: count,
  advice: z.string().nullable().catch(null),
  servers: z.array(z.string()).catch([]),
  security: z
    .array(z.looseObject({ scheme: z.string(), type: z.string(), operations: count, credential: z.unknown().optional() }))
    .catch([]),
});
export type ShownImport = z.infer<typeof importSchema>;

const mostSkipped = 10;

export function importOf(source: Record<string, unknown>): ShownImport | undefined {
  return importSchema.safeParse(source['import']).data;
}

/** In one line: what was in the document, and which tools it gave. */
export function importSummary(kind: CommandLine | undefined, { format, operations, tools, tokens, skipped_total }: ShownImport): string {
  // The kind of source names the format of a bare version.
  const named = /^\d/.test(format) ? `${kind?.document?.name ?? 'version'} ${format}` : format;
  const skipped = skipped_total === 0 ? '' : `, ${skipped_total} skipped`;
  return visible(
    `${named}: ${operations} operations, ${tools} tools${skipped}; about ${tokens.toLocaleString('en')} tokens where all are listed`,
  );
}

/** [OAS-1] The result of importing a document, for the person who added it. */
export function describeImport(kind: CommandLine | undefined, shown: ShownImport, { hasCredential }: { hasCredential: boolean }): string[] {
  const { skipped, skipped_total, warnings_total, advice, servers, security } = shown;
  const more = skipped_total > mostSkipped ? [`  … and ${skipped_total - mostSkipped} more`] : [];
  const wanted = hasCredential
    ? []
    : security.map(({ scheme, type, operations, credential }) => {
        const how = credential === undefined || credential === null ? '' : `, such as {"credential": ${JSON.stringify(credential)}}`;
        return `${operations} of its tools want ${scheme} (${type})${how}`;
      });
  return [
    importSummary(kind, shown),
    ...(servers.length === 0 ? [] : [`Its requests go to ${servers.slice(0, 3).join(', ')}${servers.length > 3 ? ', …' : ''}`]),
    ...skipped.slice(0, mostSkipped).map(({ operation, reason }) => `  skipped ${operation}: ${reason}`),
    ...more,
    ...(warnings_total === 0 ? [] : [`${warnings_total} remarks on the document: \`toolcrib sources show … --json\` has them`]),
    ...wanted,
    ...(advice === null ? [] : [advice]),
  ].map(visible);
}

/** The words come from the document, so they are not trusted. */
function visible(text: string): string {
  return printable(escapeHidden(text));
}
