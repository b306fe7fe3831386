import type { Answer, CallRecord } from '../model/call.ts';
import type { RunningCall } from './running-call.ts';

/** [SEC-4] The line of the record for a call that was answered. */
export function callRecord(call: RunningCall, answer: Answer): CallRecord {
  return {
    call_id: call.callId,
    started_at: call.startedAt,
    duration_us: Math.round(answer.execution_time_ms * 1000),
    issuer: call.principal.issuer,
    subject: call.principal.subject,
    client: call.principal.client,
    tool_id: call.tool.tool_id,
    tool: call.tool.name,
    source_id: call.tool.source_id,
    definition_hash: call.tool.definition_hash,
    policies: call.policies,
    policy_revision: call.policyRevision,
    status: answer.status,
    error_code: answer.error?.code ?? null,
  };
}
