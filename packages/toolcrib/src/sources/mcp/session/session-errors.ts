import { CribError } from '../../../model/crib-error.ts';
import { ConnectionError, TimeoutError } from '../../../model/named-errors.ts';

/**
 * [MCP-1] The server ended when it was asked which revision it speaks, as old servers do on any request before the handshake. Start it again
 * and open it with `priorEra: { kind: 'legacy' }`; only if that fails too is the server itself broken.
 */
export class EndedOnProbeError extends ConnectionError {
  override name = 'EndedOnProbeError';
}

/**
 * [MCP-3] The server never wrote a byte. It may be waiting for the other framing: start it again and use that. Only if that fails too has the
 * handshake timed out.
 */
export class SilentServerError extends TimeoutError {
  override name = 'SilentServerError';
}

/** A JSON-RPC error: the server has answered. */
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
