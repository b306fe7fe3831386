import type { Answer, CallStatus } from '../model/call.ts';
import { UnknownOutcomeError } from '../durable/unknown-outcome-error.ts';
import { CribError } from '../model/crib-error.ts';
import type { Origin } from '../model/origin.ts';
import { originOf } from './origin-of.ts';
import type { RunningCall } from './running-call.ts';

/** [EXEC-3] Once a source has been asked, a failure is an answer, not a refusal. */
export function answerFromError(call: RunningCall, error: CribError, executionTimeMs: number): Answer {
  const status = call.endedEarly ?? (error instanceof UnknownOutcomeError ? 'unknown' : 'failed');
  return failedAnswer({ ...calledBy(call), attempts: call.attempts }, { status, error, origin: originOf(error, call), executionTimeMs });
}

/** A call of which nobody can say whether it took effect. */
export function unknownAnswer(called: CalledTool, message: string): Answer {
  return failedAnswer(called, {
    status: 'unknown',
    error: new CribError('SERVICE_UNAVAILABLE', message, { retryable: false }),
    origin: 'gateway',
  });
}

/** [POLL-2] [WF-2] For a caller who waits while the server leaves the call to another one. */
export function leftAnswer({ callId, tool, attempts }: RunningCall): Answer {
  const location = `/api/bff/calls/${callId}`;
  const text = `The server is stopping. The call goes on without it, and its answer will be at ${location}.`;
  return {
    call_id: callId,
    tool_id: tool.tool_id,
    tool: tool.name,
    success: false,
    status: 'running',
    is_error: false,
    content: [{ type: 'text', text }],
    structured_content: null,
    result: null,
    text,
    error: null,
    execution_time_ms: 0,
    metadata: { attempts, source_id: tool.source_id, location },
  };
}

export type CalledTool = Pick<Answer, 'call_id' | 'tool_id' | 'tool'> & { source_id?: string; attempts?: number };

export function calledBy({ callId, tool }: RunningCall): CalledTool {
  return { call_id: callId, tool_id: tool.tool_id, tool: tool.name, source_id: tool.source_id };
}

interface FailedCall {
  status: CallStatus;
  error: CribError;
  origin: Origin;
  executionTimeMs?: number;
}

export function failedAnswer(
  { source_id, attempts = 1, ...called }: CalledTool,
  { status, error, origin, executionTimeMs = 0 }: FailedCall,
): Answer {
  const { code, message, retryable, upstreamStatus, details } = error;
  return {
    call_id: called.call_id,
    tool_id: called.tool_id,
    tool: called.tool,
    success: false,
    status,
    is_error: true,
    content: [{ type: 'text', text: message }],
    structured_content: null,
    result: null,
    text: message,
    error: {
      code,
      message,
      origin,
      retryable,
      ...(upstreamStatus === undefined ? {} : { upstream_status: upstreamStatus }),
      ...(details === undefined ? {} : { details }),
    },
    execution_time_ms: executionTimeMs,
    metadata: { attempts, ...(source_id === undefined ? {} : { source_id }) },
  };
}
