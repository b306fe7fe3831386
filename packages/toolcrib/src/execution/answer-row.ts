import { hash } from 'node:crypto';
import { canonicalJson } from '../model/canonical-json.ts';
import type { JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import type { AnswerRow } from '../store/answers.ts';
import type { RunningCall } from './running-call.ts';

/** How long a kept answer can be fetched or repeated. */
export const keepForMs = 24 * 3_600_000;
/** A call is given this much more than its own time before it counts as lost with the server that ran it. */
const graceMs = 5000;
/** A call that goes on after a crash is noted by then, or is refused. */
export const beginWithinMs = 60_000;

/** Claims the place of an answer, for a call that may not be begun yet. */
export function claimRow(call: RunningCall, args: JsonObject, idempotencyKey: string | null): AnswerRow {
  const row = answerRow(call, args, idempotencyKey);
  return call.isDurable ? { ...row, begun: 0, deadline_at: call.startedAt + beginWithinMs } : row;
}

/** The place where the answer of a call will be kept. */
export function answerRow(call: RunningCall, args: JsonObject, idempotencyKey: string | null): AnswerRow {
  // However often it tells how far it is, one that goes on after a crash ends by its longest time; no other gets an answer after its own.
  const lastsMs = call.isDurable ? call.maxTimeoutMs : call.timeoutMs;
  // One that goes on has its time counted from now.
  const from = call.resumed ? Date.now() : call.startedAt;
  return {
    call_id: call.callId,
    owner: call.principal.key,
    idempotency_key: idempotencyKey,
    request_hash: requestHash(call.tool, args),
    tool_id: call.tool.tool_id,
    tool: call.tool.name,
    deadline_at: from + lastsMs + graceMs,
    created_at: call.startedAt,
    expires_at: from + lastsMs + keepForMs,
    body: null,
    begun: 1,
    bytes: 0,
  };
}

export function requestHash(tool: Tool, args: JsonObject): string {
  // The same arguments in another order are the same request.
  return hash('sha256', `${tool.tool_id}\n${canonicalJson(args)}`, 'base64url');
}
