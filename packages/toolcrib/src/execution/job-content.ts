import { z } from 'zod';
import { keepPrincipal, keptPrincipalSchema } from '../identity/kept-principal.ts';
import type { JsonObject } from '../model/json.ts';
import type { RunningCall } from './running-call.ts';

/** [POLL-2] [WF-2] Everything needed to resume a call. It is always stored sealed: it holds the arguments and the token. */
const jobContentSchema = z.strictObject({
  version: z.literal(1),
  principal: keptPrincipalSchema,
  tool_id: z.string(),
  definition_hash: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  policies: z.string(),
  policy_revision: z.number(),
  started_at: z.number(),
  timeout_ms: z.number(),
  max_timeout_ms: z.number(),
  trace: z.strictObject({ traceparent: z.string(), tracestate: z.string().optional() }).optional(),
  via: z.strictObject({ door: z.literal('mcp'), agent: z.string().nullable() }).optional(),
});
export type JobContent = z.infer<typeof jobContentSchema>;

export function writeJobContent(call: RunningCall, args: JsonObject): string {
  const content: JobContent = {
    version: 1,
    principal: keepPrincipal(call.principal),
    tool_id: call.tool.tool_id,
    definition_hash: call.tool.definition_hash,
    arguments: args,
    policies: call.policies,
    policy_revision: call.policyRevision,
    started_at: call.startedAt,
    timeout_ms: call.timeoutMs,
    max_timeout_ms: call.maxTimeoutMs,
    trace: call.trace,
    via: call.via,
  };
  return JSON.stringify(content);
}

export function readJobContent(text: string): JobContent {
  return jobContentSchema.parse(JSON.parse(text));
}
