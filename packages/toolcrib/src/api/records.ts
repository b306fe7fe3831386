import { z } from 'zod';
import { auditLedgers, headsForm } from '../model/audit.ts';
import { callStatuses } from '../model/call.ts';
import { origins } from '../model/origin.ts';
import { refusalKinds } from '../model/refusal.ts';
import { epochMs, errorCodes, originSchema, pageQuery } from './parts.ts';

const userName = z.string().nullable().describe('Name from the token, for display only: do not base decisions on it');

export const callRecordSchema = z.strictObject({
  call_id: z.string(),
  started_at: epochMs,
  duration_us: z.int().min(0),
  issuer: z.string(),
  subject: z.string(),
  client: z.string().nullable(),
  tool_id: z.string().nullable(),
  tool: z.string(),
  source_id: z.string().nullable(),
  definition_hash: z.string().nullable(),
  policies: z.string().describe('Ids of the policies that granted it, separated by spaces'),
  policy_revision: z.int(),
  status: z.enum(callStatuses),
  error_code: z.enum(errorCodes).nullable(),
  user_name: userName,
  error_origin: originSchema
    .nullable()
    .describe('Who caused the failure; null if there was none, or if the record is older than this field'),
  door: z.string().nullable().describe('`mcp` for a call by an MCP client; null for the REST API'),
  agent: z.string().nullable().describe('The name and version that the MCP client gave'),
});
export const callRecordListSchema = z.strictObject({
  calls: z.array(callRecordSchema),
  next_cursor: z
    .string()
    .nullable()
    .describe('The `cursor` of the next page; null at the end. A page that is not the last may have fewer calls than the limit, even none'),
  follow_cursor: z.string().describe('Pass it as `follow` to read the calls that end from now on'),
});
const statusList = `(${callStatuses.join('|')})`;
const originList = `(${origins.join('|')})`;
const moment = z.coerce.number().int().min(0).max(8.64e15).optional();
export const callRecordQuerySchema = z.strictObject({
  ...pageQuery,
  status: z
    .string()
    .regex(new RegExp(`^${statusList}(,${statusList})*$`), `must be one of ${callStatuses.join(', ')}, or several separated by commas`)
    .optional()
    .describe(
      `Any of ${callStatuses.map((status) => `\`${status}\``).join(', ')}, separated by commas. \`running\` calls are listed only if you ask for them`,
    ),
  origin: z
    .string()
    .regex(new RegExp(`^${originList}(,${originList})*$`), `must be one of ${origins.join(', ')}, or several separated by commas`)
    .optional()
    .describe(`Who caused the failure: any of ${origins.map((one) => `\`${one}\``).join(', ')}, separated by commas`),
  from: moment.describe('Begun at or after this time, in epoch milliseconds. A step of a workflow counts by the start of the workflow'),
  until: moment.describe('Begun before this time, in epoch milliseconds'),
  tool: z.string().min(1).max(512).optional().describe('Name or id of the tool'),
  source: z.string().min(1).max(64).optional().describe('Namespace or id of the source, which may be a removed one'),
  user: z.string().min(1).max(1024).optional().describe('The caller: a subject, or a name as in `user_name`'),
  subject: z.string().max(1024).optional(),
  follow: z
    .string()
    .max(2000)
    .optional()
    .describe(
      'The `follow_cursor` of the previous response: lists only calls that have ended since, in that order; not together with `cursor`',
    ),
});

const topics = ['source', 'tool', 'group', 'policy', 'secret', 'connection', 'call', 'login'] as const;
export const changeEventSchema = z.strictObject({
  id: z.int(),
  at: epochMs,
  kind: z.string(),
  topic: z.enum(topics),
  subject: z.string(),
  actor: z.string().describe('Issuer and subject of the user who made the change, or `system`'),
  client: z.string().nullable().describe('The application that the user used'),
  before: z.unknown(),
  after: z.unknown(),
  address: z.string().nullable().describe('IP address of the user; null for changes by the server itself'),
  actor_name: userName,
});
export const changeEventListSchema = z.strictObject({ events: z.array(changeEventSchema), next_cursor: z.string().nullable() });
export const changeEventQuerySchema = z.strictObject({ ...pageQuery, topic: z.enum(topics).optional() });

export const refusalRecordSchema = z.strictObject({
  id: z.string(),
  at: epochMs,
  kind: z.enum(refusalKinds).describe('`authentication`: no valid token; `authorization`: a valid token without the required permission'),
  code: z.enum(errorCodes),
  reason: z.string(),
  issuer: z.string().nullable(),
  subject: z.string().nullable().describe('Only if the token was verified'),
  client: z.string().nullable(),
  address: z.string().nullable().describe('IP address of the request; null if several are counted together'),
  method: z.string().nullable(),
  route: z.string().nullable(),
  request_id: z.string().nullable(),
  count: z.int().min(1).describe('1, or the number of requests counted together because there were too many to list'),
  user_name: userName,
});
export const refusalListSchema = z.strictObject({ refusals: z.array(refusalRecordSchema), next_cursor: z.string().nullable() });
export const refusalQuerySchema = z.strictObject({ ...pageQuery, kind: z.enum(refusalKinds).optional() });

export const auditQuerySchema = z.strictObject({
  ledger: z
    .string()
    .regex(
      new RegExp(`^(${auditLedgers.join('|')})(,(${auditLedgers.join('|')}))*$`),
      'must be calls, changes, refusals, or several separated by commas',
    )
    .optional()
    .describe('Any of `calls`, `changes` and `refusals`, separated by commas; all by default'),
  from: moment.describe('At or after this time, in epoch milliseconds'),
  until: moment.describe('Before this time, in epoch milliseconds'),
});
export const auditVerifyQuerySchema = z.strictObject({
  expect: z
    .string()
    .max(4000)
    .regex(headsForm, 'must be heads as shown in the log or by a verification, separated by commas')
    .optional()
    .describe('Heads noted earlier that must still be in the record, separated by commas: `calls:12:3456:<mac>`'),
});
export const auditVerdictSchema = z.strictObject({
  ok: z.boolean(),
  ledgers: z.array(
    z.strictObject({
      ledger: z.enum(auditLedgers),
      rows: z.int().min(0).describe('Number of rows checked'),
      chains: z.int().min(0),
      unchained: z.int().min(0).describe('Rows older than the chains, which cannot be checked'),
      heads: z
        .array(z.string())
        .describe('Heads of the newest chains. Keep them elsewhere: then the rows up to them cannot be removed unnoticed'),
      problems: z.array(
        z.strictObject({ chain: z.int().nullable(), seq: z.int().nullable(), id: z.string().nullable(), problem: z.string() }),
      ),
    }),
  ),
});
