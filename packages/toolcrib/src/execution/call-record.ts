import type { Answer, CallRecord } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import { originOfRefusal } from '../model/origin.ts';
import type { Principal } from '../model/principal.ts';
import { uuidV7 } from '../model/uuid-v7.ts';
import type { RunningCall } from './running-call.ts';

type Outcome = Pick<Answer, 'execution_time_ms' | 'status'> & { error: Pick<NonNullable<Answer['error']>, 'code' | 'origin'> | null };

/** [SEC-4] The line of a call that was made. */
export function recordOf(call: RunningCall, answer: Outcome): CallRecord {
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
    user_name: call.principal.name,
    error_origin: answer.error?.origin ?? null,
  };
}

/** [SEC-4] The line of a call that nothing more was heard of, because its server was killed. */
export function unknownRecordOf(call: RunningCall): CallRecord {
  return recordOf(call, { execution_time_ms: 0, status: 'unknown', error: { code: 'SERVICE_UNAVAILABLE', origin: 'gateway' } });
}

interface Refusal {
  /** What was asked for, which may be no tool at all. */
  asked: string;
  error: unknown;
  /** Where the tool was found and is the caller's to use. */
  found?: RunningCall | undefined;
  /** The rules that decided. */
  revision: number;
}

/** [SEC-4] The line of a call that was refused. */
export function refusalRecord(principal: Principal, { asked, error, found, revision }: Refusal): CallRecord {
  return {
    call_id: found?.callId ?? uuidV7(),
    started_at: found?.startedAt ?? Date.now(),
    duration_us: 0,
    issuer: principal.issuer,
    subject: principal.subject,
    client: principal.client,
    tool_id: found?.tool.tool_id ?? null,
    tool: found?.tool.name ?? asked.slice(0, 512),
    source_id: found?.tool.source_id ?? null,
    definition_hash: found?.tool.definition_hash ?? null,
    policies: found?.policies ?? '',
    policy_revision: found?.policyRevision ?? revision,
    status: 'failed',
    error_code: error instanceof CribError ? error.code : 'INTERNAL',
    user_name: principal.name,
    error_origin: error instanceof CribError ? originOfRefusal(error) : 'gateway',
  };
}
