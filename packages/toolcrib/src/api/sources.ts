import { z } from 'zod';
import { importSummarySchema } from '../model/import-summary.ts';
import { managedBySchema } from '../model/managed-by.ts';
import { refreshReportSchema } from '../model/refresh-report.ts';
import { breakerStates } from '../model/source.ts';
import { epochMs, errorCodes } from './parts.ts';

const sourceFields = {
  id: z.string(),
  name: z.string(),
  namespace: z.string(),
  source_type: z.string().describe('The kind of source, such as mcp or openapi'),
  enabled: z.boolean().describe('Whether the source should run; `status` says whether it does'),
  definition: z.looseObject({}).nullable().describe('How the source is reached, with secrets as `***`; null for the built-in tools'),
  status: z.strictObject({
    state: z.enum(['disabled', 'stopped', 'starting', 'running', 'restarting', 'error']),
    tools: z.int().optional(),
    code: z.string().optional(),
    message: z.string().optional(),
    summary: z.string().optional().describe('The message without the quoted output of the program'),
    last_words: z.array(z.string()).optional().describe('The last lines of output of the program'),
    retry_at: z.string().optional().describe('When the server tries again'),
  }),
  health: z.enum(['unknown', 'healthy', 'degraded', 'unhealthy', 'unauthenticated']),
  breaker: z
    .enum(breakerStates)
    .describe('`open`: the source failed so often that calls are refused at once; `half_open`: one call is let through as a test'),
  server: z
    .strictObject({ name: z.string(), version: z.string(), protocol_version: z.string(), instructions: z.string().nullable() })
    .nullable()
    .describe('How the MCP server describes itself'),
  import: importSummarySchema.nullable().describe('Outcome of importing its document; null if it has none, or none was imported yet'),
  waiting: z.int().min(0).describe('Number of its tools that wait for approval'),
  outdated_secrets: z
    .array(z.string())
    .describe('Secrets that changed after the source was started on this server; it keeps the old values until it is restarted'),
  managed_by: managedBySchema,
  created_at: epochMs,
  updated_at: epochMs,
};
export const sourceSchema = z
  .strictObject(sourceFields)
  .catchall(z.unknown())
  .describe('A source: its registration as it was given, with secrets as `***`, and fields that the server adds');
export const sourcePreviewSchema = z.strictObject({
  name: z.string(),
  namespace: z.string(),
  definition: z.looseObject({}).describe('How the source would be reached, with secrets as `***`'),
  starts: z
    .strictObject({
      runtime: z.string().describe('The launcher: npx, uvx, uv, python, node, docker, or the program itself'),
      runs: z.array(z.string()).describe('The packages that would be downloaded, the image, the script, or the program'),
      command: z.array(z.string()).describe('The whole command, with secrets as `${NAME}`'),
      cwd: z.string().nullable(),
    })
    .nullable()
    .describe('The command that would be started; null for a remote server'),
  missing: z.array(z.string()).describe('Fields whose required value is missing'),
  tools: z
    .array(
      z.strictObject({
        name: z.string(),
        title: z.string().nullable(),
        description: z.string(),
        input_schema: z.looseObject({}),
        output_schema: z.looseObject({}).nullable(),
        annotations: z.looseObject({}),
      }),
    )
    .nullable()
    .describe('The tools that the source would have; null if it was not started'),
  server: sourceFields.server,
  import: sourceFields.import,
  error: z
    .strictObject({ code: z.enum(errorCodes), message: z.string(), field: z.string().optional() })
    .nullable()
    .describe('Why the source could not be registered or started'),
});
export const refreshedSourceSchema = sourceSchema.extend({ report: refreshReportSchema.nullable() });
export const importedSourcesSchema = z.strictObject({
  entries: z.array(
    z.strictObject({
      entry: z.string().describe('Path of the entry in the imported document'),
      outcome: z.enum(['registered', 'updated', 'unchanged', 'refused']),
      source: sourceSchema.nullable(),
      notes: z.array(z.string()).describe('Parts of the entry that were ignored or converted'),
      error: sourcePreviewSchema.shape.error.describe('Why the entry was refused'),
    }),
  ),
});
export const sourceListSchema = z.strictObject({ sources: z.array(sourceSchema) });
export const sourceLogSchema = z.strictObject({
  lines: z.array(z.strictObject({ time: epochMs, stream: z.enum(['stderr', 'event', 'sent', 'received']), text: z.string() })),
});

export const wireLogSchema = z.strictObject({
  enabled: z.boolean(),
  until: epochMs.nullable().describe('When logging ends by itself'),
});
