import { z } from 'zod';

const count = z.int().min(0);

/** [OAS-1] What became of an OpenAPI document: what is a tool now, what is not, and why. */
export const importReportSchema = z.strictObject({
  format: z.string().describe('The version of OpenAPI or UTCP, such as 3.0.3 or UTCP 1.0.1'),
  operations: count.describe('In the document'),
  tools: count,
  skipped: z
    .array(
      z.strictObject({ operation: z.string().describe('Method and path, or the name of a tool in a UTCP manual'), reason: z.string() }),
    )
    .describe('Operations that did not become tools'),
  warnings: z
    .array(
      z.strictObject({
        operation: z.string().nullable().describe('Method and path; null for the document as a whole'),
        message: z.string(),
      }),
    )
    .describe('Parts that were corrected or left out; the rest is as documented'),
  bytes: count.describe('Of the document and of those it refers to'),
  tokens: count.describe('Roughly how many tokens a model reads if all tools are listed'),
  advice: z.string().nullable(),
  servers: z.array(z.string()).describe('Where requests go'),
  security: z
    .array(
      z.strictObject({
        scheme: z.string().describe('Its name in the document'),
        type: z.enum(['api_key', 'basic', 'bearer', 'oauth2', 'openid', 'mutual_tls', 'other']),
        in: z.enum(['header', 'query', 'cookie']).optional(),
        name: z.string().optional().describe('Of the header, the query parameter or the cookie'),
        operations: count.describe('How many tools need it'),
        credential: z
          .record(z.string(), z.unknown())
          .nullable()
          .describe('A credential of this kind, to be filled in and registered; null where there is none'),
      }),
    )
    .describe('How callers authenticate to the service'),
  external_refs: z.array(z.string()).describe('Other documents that were read'),
});
export type ImportReport = z.infer<typeof importReportSchema>;
