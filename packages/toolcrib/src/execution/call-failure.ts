import type { Answer } from '../model/call.ts';
import { CribError, type CribErrorOptions } from '../model/crib-error.ts';
import {
  ConnectionError,
  ProtocolError,
  TimeoutError,
  ToolCallError,
  ToolNotFoundError,
  TransportError,
  ValidationError,
} from '../model/named-errors.ts';

type Failed = NonNullable<Answer['error']>;

/**
 * [EXEC-4] [EXEC-6] A call that failed, as the error under which users of the library look for it. `behind` is what went wrong on the way;
 * undefined where the server itself answered that the call failed.
 */
export function callFailure(answer: Answer, error: Failed, behind: CribError | undefined): CribError {
  const { code, message, origin, retryable, upstream_status: upstreamStatus, details } = error;
  const cause = answer.structured_content ?? behind ?? answer.metadata['rpc_error'];
  const options: CribErrorOptions = { origin, retryable, upstreamStatus, details, answer, cause };
  if (answer.status === 'timed_out' || behind instanceof TimeoutError) return new TimeoutError(message, options);
  if (behind instanceof ProtocolError) return new ProtocolError(message, options);
  if (behind instanceof TransportError) {
    // A process that crashed has another code than a connection that was lost.
    return code === 'NETWORK_ERROR' ? new ConnectionError(message, options) : new TransportError(code, message, options);
  }
  if (code === 'VALIDATION_ERROR') return new ValidationError(message, options);
  if (code === 'NOT_FOUND') return new ToolNotFoundError(message, options);
  return behind === undefined && code === 'SERVICE_UNAVAILABLE'
    ? new ToolCallError(message, options)
    : new CribError(code, message, options);
}
