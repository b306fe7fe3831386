import { CribError, type CribErrorOptions, type ErrorCode } from '../../../model/crib-error.ts';
import { ConnectionError, TimeoutError, TransportError } from '../../../model/named-errors.ts';
import { UnreachableError } from '../../../net/request-failure.ts';

/** [MCP-11] The conversation is over, though we did not end it. Opening a new one may help. */
export class SessionLostError extends TransportError {
  override name = 'SessionLostError';
  /** False where the server refused the request because it did not know the session, so that nothing can have happened. */
  readonly mayHaveRun: boolean;

  constructor(message: string, options: CribErrorOptions & { mayHaveRun: boolean; code?: ErrorCode }) {
    const { mayHaveRun, code = 'NETWORK_ERROR', ...rest } = options;
    super(code, message, { retryable: true, ...rest });
    this.mayHaveRun = mayHaveRun;
  }
}

/**
 * [MCP-1] The server ended on the question which revision it speaks, as old ones do on any request before the handshake. To be started
 * again, and opened with `priorEra: { kind: 'legacy' }`; only if that fails too is the server itself broken.
 */
export class EndedOnProbeError extends ConnectionError {
  override name = 'EndedOnProbeError';
}

/**
 * [MCP-3] The server never wrote a byte. Perhaps it waits for a message in the other framing: to be started again, and spoken to in that.
 * Only if that is of no use either has the handshake timed out.
 */
export class SilentServerError extends TimeoutError {
  override name = 'SilentServerError';
}

/** [EXEC-8] Whether a call that failed this way certainly had no effect. */
export function cannotHaveRun(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof SessionLostError && !error.mayHaveRun);
}

/** A JSON-RPC error: the server is there and has answered. */
export class RpcError extends CribError {
  override name = 'RpcError';
  readonly rpcCode: number;
  readonly data: unknown;

  constructor(rpcCode: number, message: string, data: unknown) {
    super('SERVICE_UNAVAILABLE', message, { retryable: false });
    this.rpcCode = rpcCode;
    this.data = data;
  }
}
