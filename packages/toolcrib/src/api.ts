/** The wire contract: what the REST API takes and gives. Loads without Node's built-ins, so a browser can use it too. */
import { z } from 'zod';
import { epochMs, errorCodes, originSchema, pageQuery, refusalSchema } from './api/parts.ts';
import { callStatuses } from './model/call.ts';
import { callLimitsSchema } from './model/call-limits.ts';
import { definitionFlagSchema } from './model/definition-flag.ts';
import { managedBySchema } from './model/managed-by.ts';
import { groupInputSchema, groupSchema, policyInputSchema, policySchema, matcherSchema } from './model/policy.ts';
import { stampFields } from './model/read-back.ts';
import { refreshReportSchema } from './model/refresh-report.ts';
import { approvals, toolOverridesChangeSchema, toolStates } from './model/tool.ts';
import { importSummarySchema } from './model/import-summary.ts';
import { breakerStates } from './model/source.ts';
import { longestSecret, secretNameSchema } from './secrets/secret-name.ts';

export {
  connectionSchema,
  connectionListSchema,
  begunConnectionSchema,
  redemptionSchema,
  userConnectionSchema,
  userConnectionListSchema,
} from './api/connections.ts';
export { plannedChangeSchema, policyTestResultSchema, configPlanSchema, appliedConfigSchema } from './api/configuration.ts';
export {
  callRecordSchema,
  callRecordListSchema,
  callRecordQuerySchema,
  changeEventSchema,
  changeEventListSchema,
  changeEventQuerySchema,
  refusalRecordSchema,
  refusalListSchema,
  refusalQuerySchema,
  auditQuerySchema,
  auditVerifyQuerySchema,
  auditVerdictSchema,
} from './api/records.ts';
export { groupSchema, policySchema, refusalSchema, toolOverridesChangeSchema };

const jsonSchema = z.record(z.string(), z.unknown());

export const listFormats = ['openai', 'anthropic', 'gemini', 'vercel-ai', 'utcp'] as const;

export const listQuerySchema = z.strictObject({
  q: z.string().max(1000).optional().describe('Words to search for, in any phrasing; the best matches come first'),
  group: z.string().max(64).optional().describe('Only tools of this group'),
  cursor: z.string().max(600).optional().describe('Where the page before ended'),
  limit: z.coerce.number().int().min(1).max(1000).optional().describe('Tools on one page; 1000 unless told, 10 of a search'),
  format: z.enum(listFormats).optional().describe("The tools in another program's form, under `tools` or as that form wants it"),
  view: z.enum(['full', 'compact']).optional().describe('`compact`: names, one line and parameter names of each tool, without schemas'),
});
export type ListQuery = z.infer<typeof listQuerySchema>;

export const listedToolSchema = z.strictObject({
  tool_id: z.string(),
  name: z.string().describe('Canonical name, `namespace:tool`'),
  model_name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .describe('The name to show a model'),
  title: z.string().nullable(),
  description: z.string(),
  input_schema: jsonSchema,
  output_schema: jsonSchema.nullable(),
  annotations: jsonSchema,
  source_id: z.string(),
  source_name: z.string(),
  tags: z.array(z.string()),
  version: z.string().nullable(),
  execution_mode: z.enum(['mcp_call', 'sync_http', 'async_poll', 'builtin', 'workflow']),
});
export type ListedTool = z.infer<typeof listedToolSchema>;

export const toolListSchema = z.strictObject({
  tools: z.array(listedToolSchema),
  total: z.int().min(0).describe('How many there are on all pages'),
  next_cursor: z.string().nullable(),
});

export const compactToolListSchema = toolListSchema.extend({
  tools: z.array(
    z.strictObject({
      ...listedToolSchema.pick({ name: true, model_name: true }).shape,
      description: z.string().describe('The first sentence of its description, on one line'),
      parameters: z.array(z.string()).describe('Names of its parameters'),
    }),
  ),
});

/** [UTCP-1] Exactly what the public client takes. */
export const utcpManualSchema = z.strictObject({
  utcp_version: z.string(),
  manual_version: z.string(),
  tools: z.array(
    z.strictObject({
      name: z.string().describe('`namespace.tool`; a client puts the name it gives the manual before it'),
      description: z.string(),
      inputs: jsonSchema,
      outputs: jsonSchema,
      tags: z.array(z.string()),
      tool_call_template: z.looseObject({ call_template_type: z.literal('http'), http_method: z.literal('POST'), url: z.string() }),
    }),
  ),
});

export const callRequestSchema = z
  .strictObject({
    tool_id: z.string().min(1).max(512).optional(),
    name: z.string().min(1).max(512).optional().describe('`namespace:tool` or `namespace.tool`'),
    arguments: z.record(z.string(), z.unknown()).default({}),
    timeout_ms: z.int().min(1).max(3_600_000).optional(),
    async: z.boolean().optional().describe('Answer 202 at once; the call is then found at its address'),
  })
  .refine((request) => (request.tool_id === undefined) !== (request.name === undefined), {
    message: 'Give exactly one of tool_id and name',
    path: ['name'],
  })
  .meta({ oneOf: [{ required: ['tool_id'] }, { required: ['name'] }] });
export type CallRequestBody = z.infer<typeof callRequestSchema>;

export const answerSchema = z.strictObject({
  call_id: z.string(),
  tool_id: z.string(),
  tool: z.string(),
  success: z.boolean(),
  status: z.enum(callStatuses),
  is_error: z.boolean(),
  content: z.array(z.looseObject({ type: z.string() })),
  structured_content: z.unknown(),
  result: z.unknown().describe('Structured content, or what the text says where it is JSON'),
  text: z.string().describe('All text blocks, joined'),
  error: z
    .strictObject({
      code: z.enum(errorCodes),
      message: z.string(),
      origin: originSchema,
      retryable: z.boolean(),
      upstream_status: z.int().optional(),
      details: z.unknown().optional(),
    })
    .nullable(),
  execution_time_ms: z.number(),
  metadata: z.record(z.string(), z.unknown()),
});

export const acceptedCallSchema = z.strictObject({ call_id: z.string(), status: z.enum(callStatuses), location: z.string() });

export const batchRequestSchema = z.strictObject({ calls: z.array(callRequestSchema).min(1).max(50) });

export const batchAnswerSchema = z.strictObject({
  answers: z.array(
    z.strictObject({
      http_status: z.int().describe('The status that the call alone would have had'),
      answer: answerSchema.nullable(),
      error: refusalSchema.nullable(),
    }),
  ),
});

export const callStateSchema = z.strictObject({
  call_id: z.string(),
  tool_id: z.string().nullable(),
  tool: z.string(),
  status: z.enum(callStatuses),
  error_code: z.enum(errorCodes).nullable(),
  error_origin: originSchema.nullable(),
  answer: answerSchema.nullable().describe('Kept for calls made with async or an Idempotency-Key; null for all others'),
});
export type CallState = z.infer<typeof callStateSchema>;

/** [MCP-13] MCP's own form of an answer. */
export const elicitationAnswerSchema = z.strictObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.unknown()).optional().describe('The values that were filled in, when accepted'),
});

// --- for administrators ---------------------------------------------------------------------------------------------

const givenId = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/)
    .optional()
    .describe('Made by the server unless given'),
});
export const groupCreateSchema = groupInputSchema.extend(givenId.shape);
export const groupUpdateSchema = groupInputSchema.extend(stampFields);
export const policyCreateSchema = policyInputSchema.extend(givenId.shape);
export const policyUpdateSchema = policyInputSchema.extend(stampFields);

export const groupListSchema = z.strictObject({ groups: z.array(groupSchema) });
export const policyListSchema = z.strictObject({ policies: z.array(policySchema) });

export const meSchema = z.strictObject({
  issuer: z.string(),
  subject: z.string(),
  name: z.string().nullable().describe('Name of the caller, where the token has one'),
  administrator: z.boolean().describe('Whether the caller may use what is for administrators'),
  may_run: z.boolean().describe('Whether the caller may register and try what starts a program on the machine of the server'),
});

const sourceFields = {
  id: z.string(),
  name: z.string(),
  namespace: z.string(),
  source_type: z.enum(['mcp', 'openapi', 'builtin', 'workflow']),
  enabled: z.boolean().describe('Whether it should run; `status` says whether it does'),
  definition: z.looseObject({}).nullable().describe('How it is reached, with secrets as `***`; null for the built-in tools'),
  status: z.strictObject({
    state: z.enum(['disabled', 'stopped', 'starting', 'running', 'restarting', 'error']),
    tools: z.int().optional(),
    code: z.string().optional(),
    message: z.string().optional(),
    retry_at: z.string().optional().describe('When it is tried again by itself'),
  }),
  health: z.enum(['unknown', 'healthy', 'degraded', 'unhealthy', 'unauthenticated']),
  breaker: z.enum(breakerStates).describe('`open`: it failed so often that calls are refused at once; `half_open`: one call may try it'),
  server: z
    .strictObject({ name: z.string(), version: z.string(), protocol_version: z.string(), instructions: z.string().nullable() })
    .nullable()
    .describe('How the server described itself'),
  import: importSummarySchema.nullable().describe('Outcome of importing its document; null where it has none, or none was imported yet'),
  waiting: z.int().min(0).describe('How many of its tools wait for approval'),
  outdated_secrets: z
    .array(z.string())
    .describe('Secrets that have changed since it was started on this server, and of which it keeps the old value until it is restarted'),
  managed_by: managedBySchema,
  created_at: epochMs,
  updated_at: epochMs,
};
export const sourceSchema = z
  .strictObject(sourceFields)
  .catchall(z.unknown())
  .describe('A source: its registration in the form it was given in, with secrets as `***`, and what the server says of it');
export const sourcePreviewSchema = z.strictObject({
  name: z.string(),
  namespace: z.string(),
  definition: z.looseObject({}).describe('How it would be reached, with secrets as `***`'),
  starts: z
    .strictObject({
      runtime: z.string().describe('Its launcher: npx, uvx, uv, python, node, docker, or a program itself'),
      runs: z.array(z.string()).describe('The packages that would be fetched, the image, the script, or the program'),
      command: z.array(z.string()).describe('The whole command; secrets stand in it as `${NAME}`'),
      cwd: z.string().nullable(),
    })
    .nullable()
    .describe('The command that would be started; null for a remote server'),
  missing: z.array(z.string()).describe('Fields of required values that are not there'),
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
    .describe('The tools it would have; null where the server was not asked'),
  server: sourceFields.server,
  import: sourceFields.import,
  error: z
    .strictObject({ code: z.enum(errorCodes), message: z.string(), field: z.string().optional() })
    .nullable()
    .describe('Why it could not be registered, or could not be started'),
});
export const refreshedSourceSchema = sourceSchema.extend({ report: refreshReportSchema.nullable() });
export const importedSourcesSchema = z.strictObject({
  entries: z.array(
    z.strictObject({
      entry: z.string().describe('Where it stands in what was imported'),
      outcome: z.enum(['registered', 'updated', 'unchanged', 'refused']),
      source: sourceSchema.nullable(),
      notes: z.array(z.string()).describe('Parts of the entry that are not used, or were read as something else'),
      error: sourcePreviewSchema.shape.error.describe('Why it was refused'),
    }),
  ),
});
export const sourceListSchema = z.strictObject({ sources: z.array(sourceSchema) });
export const sourceLogSchema = z.strictObject({
  lines: z.array(z.strictObject({ time: epochMs, stream: z.enum(['stderr', 'event', 'sent', 'received']), text: z.string() })),
});

export const wireLogSchema = z.strictObject({
  enabled: z.boolean(),
  until: epochMs.nullable().describe('When it ends by itself'),
});

const approval = z
  .enum(approvals)
  .describe('Whether an administrator has seen the definition: `new` while none was ever approved, `changed` while another one was');

export const administeredToolSchema = listedToolSchema.extend({
  upstream_name: z.string().describe("The source's own name for it, which selectors match"),
  namespace: z.string(),
  labels: z.record(z.string(), z.string()),
  method: z.string().nullable(),
  path: z.string().nullable(),
  state: z.enum(toolStates),
  definition_hash: z.string(),
  approval,
  flags: z.array(definitionFlagSchema).describe('Places in the definition that a person should look at'),
  limits: callLimitsSchema,
  groups: z.array(z.string()).describe('Ids of the groups the tool is in'),
});
export const administeredToolListSchema = z.strictObject({
  tools: z.array(administeredToolSchema),
  total: z.int().min(0),
  next_cursor: z.string().nullable(),
});

export const secretSchema = z.strictObject({ name: secretNameSchema, created_at: epochMs, updated_at: epochMs });
export const setSecretSchema = secretSchema.extend({
  kept_by: z
    .array(z.string())
    .describe('Sources that run on this server with the old value until they are restarted (`on_secret_change: keep`), by their namespace'),
});
export const secretListSchema = z.strictObject({ secrets: z.array(secretSchema) });
export const secretValueSchema = z.strictObject({ value: z.string().min(1).max(longestSecret).describe('`***` keeps the stored value') });

export const toolReferenceSchema = z.string().min(1).max(512).describe('Tool id or name');

const definitionHash = z.string().min(1).max(128).describe('The hash of the definition that was seen');
export const toolApprovalSchema = z.strictObject({ definition_hash: definitionHash });
export const sourceApprovalSchema = z.strictObject({
  definition_hashes: z.record(z.string().max(64), definitionHash).describe('By tool id'),
});

export const toolDifferenceSchema = z.strictObject({
  tool_id: z.string(),
  name: z.string(),
  upstream_name: z.string(),
  state: z.enum(toolStates),
  approval,
  definition_hash: z.string().describe('Of what the source says now; an approval has to name it'),
  approved_hash: z.string().nullable(),
  fields: z
    .array(
      z.strictObject({
        field: z.enum(['name', 'title', 'description', 'request', 'input_schema', 'output_schema', 'annotations', 'operation', 'workflow']),
        before: z.unknown().describe('As it was approved; null where it was not there'),
        after: z.unknown().describe('As the source says it now; null where it is not there any more'),
      }),
    )
    .describe('Those that differ; for a new tool all it has'),
  flags: z.array(definitionFlagSchema),
});
export const differencesSchema = z.strictObject({
  differences: z.array(toolDifferenceSchema),
  total: z.int().min(0).describe('How many wait on all pages'),
  next_cursor: z.string().nullable(),
  report: refreshReportSchema.nullable().describe('Changes this server found when it last asked the source for its tools'),
});
export const differencesQuerySchema = z.strictObject({ ...pageQuery, cursor: z.string().max(2000).optional() });

export const toolAdminQuerySchema = z.strictObject({
  ...pageQuery,
  source: z.string().max(64).optional().describe('Only tools of this source, by id or namespace'),
  state: z.enum(toolStates).optional(),
});

export const explainRequestSchema = z
  .strictObject({
    token: z.string().min(1).max(16_384).optional().describe('A JWT of one of the configured issuers; it is verified'),
    claims: z.record(z.string(), z.unknown()).optional().describe('Claims as they would stand in a token'),
    tool: z.string().min(1).max(512).optional().describe('Explain this tool; without it, all the caller may use'),
  })
  .refine((request) => (request.token === undefined) !== (request.claims === undefined), {
    message: 'Give exactly one of token and claims',
    path: ['token'],
  })
  .meta({ oneOf: [{ required: ['token'] }, { required: ['claims'] }] });

export const explanationSchema = z.strictObject({
  subject: z.string().nullable(),
  user_name: z.string().nullable().describe('Their name, where the claims have one'),
  administrator: z.boolean(),
  revision: z.int(),
  policies: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      grants: z.boolean(),
      reason: z.string(),
      matchers: z.array(z.strictObject({ matcher: matcherSchema, holds: z.boolean(), reason: z.string() })),
      groups: z.array(z.string()),
    }),
  ),
  decision: z.strictObject({ tool: z.string(), allowed: z.boolean(), reason: z.string() }).nullable(),
  tools: z.array(z.string()).describe('Canonical names of all tools these claims may use'),
});
export type Explanation = z.infer<typeof explanationSchema>;
