/** The wire contract: requests and responses of the REST API. Uses no Node built-ins, so that browsers can load it too. */
import { z } from 'zod';
import { epochMs, errorCodes, originSchema, pageQuery, refusalSchema } from './api/parts.ts';
import { callStatuses } from './model/call.ts';
import { callLimitsSchema } from './model/call-limits.ts';
import { definitionFlagSchema } from './model/definition-flag.ts';
import { groupInputSchema, groupSchema, policyInputSchema, policySchema, matcherSchema } from './model/policy.ts';
import { stampFields } from './model/read-back.ts';
import { refreshReportSchema } from './model/refresh-report.ts';
import { approvals, comparedFields, toolOverridesChangeSchema, toolStates } from './model/tool.ts';
import { longestSecret, secretNameSchema } from './secrets/secret-name.ts';

export { addressListSchema, addressQuerySchema, type AddressList } from './api/addresses.ts';
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
export {
  sourceSchema,
  sourcePreviewSchema,
  refreshedSourceSchema,
  importedSourcesSchema,
  sourceListSchema,
  sourceLogSchema,
  wireLogSchema,
} from './api/sources.ts';
export { groupSchema, policySchema, refusalSchema, toolOverridesChangeSchema };

const jsonSchema = z.record(z.string(), z.unknown());

export const listFormats = ['openai', 'anthropic', 'gemini', 'vercel-ai', 'utcp'] as const;

export const listQuerySchema = z.strictObject({
  q: z.string().max(1000).optional().describe('Words to search for, in any phrasing; best matches first'),
  group: z.string().max(64).optional().describe('Only tools of this group'),
  cursor: z.string().max(600).optional().describe('`next_cursor` of the previous page'),
  limit: z.coerce.number().int().min(1).max(1000).optional().describe('Tools per page; 1000 by default, 10 for a search'),
  format: z
    .enum(listFormats)
    .optional()
    .describe("The tools in another program's format, under `tools` unless the format has its own structure"),
  view: z
    .enum(['full', 'compact'])
    .optional()
    .describe('`compact`: name, one line of description and parameter names of each tool, without schemas'),
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
  total: z.int().min(0).describe('Number of tools on all pages'),
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

/** [UTCP-1] Exactly the format that the public UTCP client reads. */
export const utcpManualSchema = z.strictObject({
  utcp_version: z.string(),
  manual_version: z.string(),
  tools: z.array(
    z.strictObject({
      name: z.string().describe('`namespace.tool`; UTCP clients prefix it with their name for the manual'),
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
    async: z.boolean().optional().describe('Answer 202 at once; poll the call at `location`'),
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
  result: z.unknown().describe('The structured content, or the text parsed if it is JSON'),
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
      http_status: z.int().describe('The HTTP status that the call would have had on its own'),
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

/** [MCP-13] An answer in MCP's format. */
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
    .describe('Generated by the server if left out'),
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
  name: z.string().nullable().describe('Name of the caller, if the token has one'),
  administrator: z.boolean().describe('Whether the caller is an administrator'),
  may_run: z.boolean().describe("Whether the caller may register and try sources that start a program on the server's machine"),
});

const approval = z
  .enum(approvals)
  .describe('Whether an administrator has approved the definition: `new` if none was ever approved, `changed` if an earlier one was');

export const administeredToolSchema = listedToolSchema.extend({
  upstream_name: z.string().describe("The source's own name for the tool, which selectors match"),
  namespace: z.string(),
  labels: z.record(z.string(), z.string()),
  method: z.string().nullable(),
  path: z.string().nullable(),
  state: z.enum(toolStates),
  definition_hash: z.string(),
  approval,
  flags: z.array(definitionFlagSchema).describe('Suspicious parts of the definition that a person should review'),
  limits: callLimitsSchema,
  groups: z.array(z.string()).describe('Ids of the groups that contain the tool'),
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
    .describe('Namespaces of sources that run on this server with the old value until they are restarted (`on_secret_change: keep`)'),
});
export const secretListSchema = z.strictObject({ secrets: z.array(secretSchema) });
export const secretValueSchema = z.strictObject({ value: z.string().min(1).max(longestSecret).describe('`***` keeps the stored value') });

export const toolReferenceSchema = z.string().min(1).max(512).describe('Tool id or name');

const definitionHash = z.string().min(1).max(128).describe('The hash of the definition that was reviewed');
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
  definition_hash: z.string().describe('Hash of the current definition; an approval must name it'),
  approved_hash: z.string().nullable(),
  fields: z
    .array(
      z.strictObject({
        field: z.enum(comparedFields),
        before: z.unknown().describe('The approved value; null if there was none'),
        after: z.unknown().describe('The current value; null if the source has removed it'),
      }),
    )
    .describe('The fields that differ; all fields for a new tool'),
  flags: z.array(definitionFlagSchema),
});
export const differencesSchema = z.strictObject({
  differences: z.array(toolDifferenceSchema),
  total: z.int().min(0).describe('Number of waiting tools on all pages'),
  next_cursor: z.string().nullable(),
  report: refreshReportSchema.nullable().describe('Changes that this server found at the last refresh of the source'),
});
export const differencesQuerySchema = z.strictObject({ ...pageQuery, cursor: z.string().max(2000).optional() });

export const toolAdminQuerySchema = z.strictObject({
  ...pageQuery,
  source: z.string().max(64).optional().describe('Only tools of this source, given by id or namespace'),
  state: z.enum(toolStates).optional(),
});

export const explainRequestSchema = z
  .strictObject({
    token: z.string().min(1).max(16_384).optional().describe('A JWT from one of the configured issuers; it is verified'),
    claims: z.record(z.string(), z.unknown()).optional().describe('Claims as in a token'),
    tool: z.string().min(1).max(512).optional().describe('Explain access to this tool; if left out, to all tools'),
  })
  .refine((request) => (request.token === undefined) !== (request.claims === undefined), {
    message: 'Give exactly one of token and claims',
    path: ['token'],
  })
  .meta({ oneOf: [{ required: ['token'] }, { required: ['claims'] }] });

export const explanationSchema = z.strictObject({
  subject: z.string().nullable(),
  user_name: z.string().nullable().describe('Name of the user, if the claims have one'),
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
