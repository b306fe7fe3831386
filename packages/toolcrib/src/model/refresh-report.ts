import { z } from 'zod';
import { definitionFlagSchema } from './definition-flag.ts';

const names = z.array(z.string());
const version = z.string().nullable();

/** [INV-2] What a discovery found, by the names the source itself has for its tools. */
export const refreshReportSchema = z.strictObject({
  at: z.int().min(0).describe('Epoch milliseconds'),
  added: names.describe('New, or back again'),
  changed: names.describe('With another definition than before'),
  removed: names.describe('Gone; kept as deprecated'),
  left_out: names.describe('New, but under a name that an administrator has given to another tool'),
  waiting: names.describe('Those whose definition waits for approval'),
  flagged: z
    .array(z.strictObject({ tool: z.string(), kinds: z.array(definitionFlagSchema.shape.kind) }))
    .describe('Those that a person should review; empty if nothing is pinned'),
  server_version: z.strictObject({ before: version, after: version }),
});
export type RefreshReport = z.infer<typeof refreshReportSchema>;
