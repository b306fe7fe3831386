import { z } from 'zod';
import { auditLedgers, headsForm } from '../model/audit.ts';
import { callStatuses } from '../model/call.ts';
import { origins } from '../model/origin.ts';
import { refusalKinds } from '../model/refusal.ts';
import { epochMs, errorCodes, originSchema, pageQuery } from './parts.ts';

const userName = z.string().nullable().describe('Their name, as their token gave it: to read, not to decide by');

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
  error_origin: originSchema.nullable().describe('Whose failure it was; null where there was none, or it was recorded before this was'),
});
export const callRecordListSchema = z.strictObject({
  calls: z.array(callRecordSchema),
  next_cursor: z
    .string()
    .nullable()
    .describe('Where to go on; null at the end. A page may have fewer calls than asked for, even none, and not be the last'),
  follow_cursor: z.string().describe('For `follow`: what ends from now on'),
});
const statusList = `(${callStatuses.join('|')})`;
const originList = `(${origins.join('|')})`;
const moment = z.coerce.number().int().min(0).max(8.64e15).optional();
export const callRecordQuerySchema = z.strictObject({
  ...pageQuery,
  status: z
    .string()
    .regex(new RegExp(`^${statusList}(,${statusList})*$`), `must be one of ${callStatuses.join(', ')}, or several with commas`)
    .optional()
    .describe(
      `Any of ${callStatuses.map((status) => `\`${status}\``).join(', ')}, with commas between them. Those that are \`running\` are listed only where they are asked for`,
    ),
  origin: z
    .string()
    .regex(new RegExp(`^${originList}(,${originList})*$`), `must be one of ${origins.join(', ')}, or several with commas`)
    .optional()
    .describe(`Whose failure it was: any of ${origins.map((one) => `\`${one}\``).join(', ')}, with commas between them`),
  from: moment.describe('Begun from this moment on, in epoch milliseconds. A step of a workflow counts with the workflow'),
  until: moment.describe('Begun up to but without this moment, in epoch milliseconds'),
  tool: z.string().min(1).max(512).optional().describe('Name or id of the tool'),
  source: z.string().min(1).max(64).optional().describe('Namespace of the source, or its id, also of one that was removed'),
  user: z.string().min(1).max(1024).optional().describe('Who called: a subject, or a name as `user_name` has it'),
  subject: z.string().max(1024).optional(),
  follow: z
    .string()
    .max(2000)
    .optional()
    .describe('The `follow_cursor` of the answer before: only what has ended since, in the order in which it ended; not with `cursor`'),
});

const topics = ['source', 'tool', 'group', 'policy', 'secret', 'connection', 'call'] as const;
export const changeEventSchema = z.strictObject({
  id: z.int(),
  at: epochMs,
  kind: z.string(),
  topic: z.enum(topics),
  subject: z.string(),
  actor: z.string().describe('Issuer and subject of who did it, or `system`'),
  client: z.string().nullable().describe('The application through which they did it'),
  before: z.unknown(),
  after: z.unknown(),
  address: z.string().nullable().describe('Where they did it from; null for what the server does itself'),
  actor_name: userName,
});
export const changeEventListSchema = z.strictObject({ events: z.array(changeEventSchema), next_cursor: z.string().nullable() });
export const changeEventQuerySchema = z.strictObject({ ...pageQuery, topic: z.enum(topics).optional() });

export const refusalRecordSchema = z.strictObject({
  id: z.string(),
  at: epochMs,
  kind: z.enum(refusalKinds).describe('`authentication`: no valid token; `authorization`: a valid one of somebody who may not'),
  code: z.enum(errorCodes),
  reason: z.string(),
  issuer: z.string().nullable(),
  subject: z.string().nullable().describe('Only where the token was verified'),
  client: z.string().nullable(),
  address: z.string().nullable().describe('Where the request came from; null where several are counted together'),
  method: z.string().nullable(),
  route: z.string().nullable(),
  request_id: z.string().nullable(),
  count: z.int().min(1).describe('1, or how many there were that were too many to be listed one by one'),
  user_name: userName,
});
export const refusalListSchema = z.strictObject({ refusals: z.array(refusalRecordSchema), next_cursor: z.string().nullable() });
export const refusalQuerySchema = z.strictObject({ ...pageQuery, kind: z.enum(refusalKinds).optional() });

export const auditQuerySchema = z.strictObject({
  ledger: z
    .string()
    .regex(
      new RegExp(`^(${auditLedgers.join('|')})(,(${auditLedgers.join('|')}))*$`),
      'must be calls, changes, refusals, or several with commas',
    )
    .optional()
    .describe('Which of `calls`, `changes` and `refusals`, with commas between them; all unless told'),
  from: moment.describe('From this moment on, in epoch milliseconds'),
  until: moment.describe('Up to but without this moment, in epoch milliseconds'),
});
export const auditVerifyQuerySchema = z.strictObject({
  expect: z
    .string()
    .max(4000)
    .regex(headsForm, 'must be heads as the log and a verification show them, with commas between them')
    .optional()
    .describe('Heads that were noted earlier and must still be there, with commas between them: `calls:12:3456:<mac>`'),
});
export const auditVerdictSchema = z.strictObject({
  ok: z.boolean(),
  ledgers: z.array(
    z.strictObject({
      ledger: z.enum(auditLedgers),
      rows: z.int().min(0).describe('Rows that were checked'),
      chains: z.int().min(0),
      unchained: z.int().min(0).describe('Rows from before there were chains, of which nothing can be said'),
      heads: z.array(z.string()).describe('Of the newest chains. Note them elsewhere: what they stand for cannot vanish unnoticed then'),
      problems: z.array(
        z.strictObject({ chain: z.int().nullable(), seq: z.int().nullable(), id: z.string().nullable(), problem: z.string() }),
      ),
    }),
  ),
});
