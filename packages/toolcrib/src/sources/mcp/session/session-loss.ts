import type { CribError } from '../../../model/crib-error.ts';
import type { LossCause } from '../../upstream/session-lost.ts';
import { crashError, type ProcessExit } from '../process/process-exit.ts';

/**
 * [MCP-11] How a session came to its end without our closing it. Transports, requests and heartbeats notice a loss and tell the session;
 * the session tells everybody else, once, through `onLost`.
 */
export interface SessionLoss {
  readonly cause: LossCause;
  /** For the calls that were under way, with a message for people. */
  readonly error: CribError;
  /** How its process ended and the last lines it wrote, where it had one of ours. */
  readonly exit?: ProcessExit;
  readonly lastWords?: readonly string[];
}

/** [ERR-5] */
export function processLoss(exit: ProcessExit, lastWords: readonly string[]): SessionLoss {
  return { cause: 'process-ended', error: crashError(exit, lastWords), exit, lastWords };
}
