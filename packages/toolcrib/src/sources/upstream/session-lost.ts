import type { CribErrorOptions, ErrorCode } from '../../model/crib-error.ts';
import { TransportError } from '../../model/named-errors.ts';
import { UnreachableError } from '../../net/request-failure.ts';

/** Why a session ended: its process, its connection, an unreadable message, a server that forgot it or changed the protocol, or silence. */
export type LossCause = 'process-ended' | 'connection-ended' | 'unreadable' | 'session-unknown' | 'revision-changed' | 'silent';

/** [MCP-11] For a call on a session that ended without our closing it. A new session may help. */
export class SessionLostError extends TransportError {
  override name = 'SessionLostError';
  /** False if the server never accepted the request: it did not know the session, or the session had ended before. */
  readonly mayHaveRun: boolean;
  readonly lossCause: LossCause;

  constructor(message: string, options: CribErrorOptions & { mayHaveRun: boolean; lossCause?: LossCause; code?: ErrorCode }) {
    const { mayHaveRun, lossCause = 'connection-ended', code = 'NETWORK_ERROR', ...rest } = options;
    super(code, message, { retryable: true, ...rest });
    this.mayHaveRun = mayHaveRun;
    this.lossCause = lossCause;
  }
}

/** [EXEC-8] Whether a call that failed this way certainly had no effect. */
export function cannotHaveRun(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof SessionLostError && !error.mayHaveRun);
}
