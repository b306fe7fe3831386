import type { Answer, CallRecord, CallStatus } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { AnswerRow } from '../store/answers.ts';
import { originOfFailure } from '../model/origin.ts';
import { failedAnswer, type CalledTool } from './answer.ts';

/** A call that should long have ended and left neither an answer nor a record. */
export const lostWithServer =
  'No answer of this call was kept: its server stopped, or lost its database, while the call ran. It may or may not have taken effect.';

const notBegun = 'The call was not begun, and nothing was sent: its server stopped, or could not note the call. Try again.';

const endings: Partial<Record<CallStatus, string>> = {
  completed: 'The call completed',
  failed: 'The call failed',
  cancelled: 'The call was cancelled',
  timed_out: 'The call timed out',
};

/** Whether a record says how its call ended. */
export function hasEnded({ status }: Pick<CallRecord, 'status'>): boolean {
  return status in endings;
}

/** The answer of a call whose outcome is known while its content is lost. */
export function answerWithoutContent(
  called: CalledTool,
  { status, error_code, error_origin }: Pick<CallRecord, 'status' | 'error_code' | 'error_origin'>,
): Answer {
  const ending = endings[status] ?? 'The call ended';
  if (status !== 'completed') {
    const message = `${ending}${error_code === null ? '' : ` (${error_code})`}. Its answer could not be kept and cannot be shown again.`;
    const error = new CribError(error_code ?? 'SERVICE_UNAVAILABLE', message, { retryable: false });
    return failedAnswer(called, { status, error, origin: error_origin ?? originOfFailure(error) });
  }
  const text = `${ending}: the tool ran. Its answer could not be kept and cannot be shown again.`;
  return {
    call_id: called.call_id,
    tool_id: called.tool_id,
    tool: called.tool,
    success: true,
    status,
    is_error: false,
    content: [{ type: 'text', text }],
    structured_content: null,
    result: null,
    text,
    error: null,
    execution_time_ms: 0,
    metadata: { attempts: 1, content_kept: false },
  };
}

/** Of a call that was accepted and then could not be begun. Unlike an unknown one, it may safely be sent again. */
export function notBegunAnswer(called: CalledTool): Answer {
  return failedAnswer(called, {
    status: 'failed',
    error: new CribError('SERVICE_UNAVAILABLE', notBegun, { retryable: true }),
    origin: 'gateway',
  });
}

/** Whether the key of a call is free for another: its source was not asked for anything, and nobody called it off. */
export function maySendAgain({ begun }: { begun: boolean }, { status }: Pick<Answer, 'status'>): boolean {
  return !begun && status !== 'cancelled';
}

export function cancelledAnswer(called: CalledTool): Answer {
  return failedAnswer(called, {
    status: 'cancelled',
    error: new CribError('SERVICE_UNAVAILABLE', 'The call was cancelled', { retryable: false }),
    origin: 'caller',
  });
}

/** [SEC-4] The caller was promised an answer, so the record must know of the call, also where its server could not write it. */
export function lostRecord(kept: AnswerRow, status: CallStatus): CallRecord {
  const gap = kept.owner.indexOf(' ');
  return {
    call_id: kept.call_id,
    started_at: kept.created_at,
    duration_us: 0,
    issuer: kept.owner.slice(0, gap),
    subject: kept.owner.slice(gap + 1),
    client: null,
    tool_id: kept.tool_id,
    tool: kept.tool,
    source_id: null,
    definition_hash: null,
    policies: '',
    policy_revision: 0,
    status,
    error_code: 'SERVICE_UNAVAILABLE',
    user_name: null,
    error_origin: status === 'cancelled' ? 'caller' : 'gateway',
    door: null,
    agent: null,
  };
}
