import type { Answer, CallStatus, ToolOutput } from '../model/call.ts';
import type { CribError } from '../model/crib-error.ts';
import { failureMessage } from './failure-message.ts';
import { joinedText, resultValue } from './result-value.ts';
import type { RunningCall } from './running-call.ts';

/** [EXEC-2] A tool's output in the form every caller gets. */
export function answerFrom(call: RunningCall, output: ToolOutput, executionTimeMs: number): Answer {
  const isError = output.is_error === true;
  return {
    call_id: call.callId,
    tool_id: call.tool.tool_id,
    tool: call.tool.name,
    success: !isError,
    status: isError ? 'failed' : 'completed',
    is_error: isError,
    content: output.content,
    structured_content: output.structured_content ?? null,
    result: resultValue(output),
    text: joinedText(output.content),
    error: isError ? { code: 'SERVICE_UNAVAILABLE', message: failureMessage(output), retryable: false } : null,
    execution_time_ms: executionTimeMs,
    metadata: { attempts: 1, ...output.metadata, source_id: call.tool.source_id },
  };
}

/** [EXEC-3] Once a source has been asked, a failure is an answer, not a refusal. */
export function answerFromError(call: RunningCall, error: CribError, executionTimeMs: number): Answer {
  const { code, message, retryable } = error;
  const status: CallStatus = call.endedEarly ?? 'failed';
  return {
    call_id: call.callId,
    tool_id: call.tool.tool_id,
    tool: call.tool.name,
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
      retryable,
      ...(error.upstreamStatus === undefined ? {} : { upstream_status: error.upstreamStatus }),
      ...(error.details === undefined ? {} : { details: error.details }),
    },
    execution_time_ms: executionTimeMs,
    metadata: { source_id: call.tool.source_id, attempts: 1 },
  };
}
