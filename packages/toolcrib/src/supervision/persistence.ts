import { CribError } from '../model/crib-error.ts';
import type { Resilience } from '../model/source-definition.ts';
import { EngineUnavailableError } from '../model/named-errors.ts';
import { RefusedAddressError } from '../net/network-rules.ts';
import { backoffMs } from './backoff.ts';
import { engineBackoffMs } from './engine-outage.ts';
import { pause } from './waiting.ts';

export interface Persistence {
  /** Goes on trying in the background after a start that failed with this, from the first pause on. */
  goOn(failure: unknown): void;
  end(reason: Error): void;
}

interface PersistenceInput {
  /** `quietly` where its status is to stay what it is until it is up, or fails for another reason. */
  start(quietly: boolean): Promise<void>;
  /** Whether it is no longer its to start: somebody else has, or it works. */
  isOver(): boolean;
  restart: Resilience['restart'];
  /** What runs elsewhere costs next to nothing to try: that is done until it is up, however long it takes. */
  elsewhere: boolean;
  /** Told when it is tried next; not while the engine of containers is away, which is tried every few seconds. */
  onPause(retryAt: Date): void;
  enginePauseMs?: number | undefined;
}

/**
 * [MCP-10] What is spoken to may be started after us, or be away for a while, and nobody is there who would start it again by hand. So a failed
 * start is made again after growing pauses. [ERR-2] Where only the engine of containers is away, after short ones.
 */
export function createPersistence({ start, isOver, restart, elsewhere, onPause, enginePauseMs }: PersistenceInput): Persistence {
  const most = elsewhere && restart.maxAttempts > 0 ? Number.POSITIVE_INFINITY : restart.maxAttempts;
  let trying: AbortController | undefined;

  async function tryAgain(failure: unknown, signal: AbortSignal): Promise<void> {
    let error = failure;
    let attempts = 0;
    let outages = 0;
    for (;;) {
      const isAway = error instanceof EngineUnavailableError;
      if (!isAway && (attempts >= most || !isPassing(error))) return;
      const pauseMs = isAway ? engineBackoffMs(outages++, enginePauseMs) : backoffMs(attempts++, restart.backoffMs);
      if (!isAway) {
        outages = 0;
        onPause(new Date(Date.now() + pauseMs));
      }
      await pause(pauseMs, signal);
      if (isOver()) return;
      try {
        return await start(isAway || elsewhere);
      } catch (next) {
        signal.throwIfAborted();
        error = next;
      }
    }
  }

  return {
    goOn(failure) {
      trying?.abort(new CribError('CONFLICT', 'It was started by hand meanwhile'));
      const own = new AbortController();
      trying = own;
      void tryAgain(failure, own.signal)
        .catch(() => undefined)
        .finally(() => {
          if (trying === own) trying = undefined;
        });
    },
    end(reason) {
      trying?.abort(reason);
      trying = undefined;
    },
  };
}

/** A status that another time may be another: nobody is behind the proxy yet, the path is not served yet, too much was asked. */
const passingStatus = new Set([404, 408, 425, 429]);

/** What may be over by itself; a package that is not there, a credential that is refused, or a value that is missing, will still be so in a minute. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof CribError) || isRefusedAddress(error)) return false;
  const { code, upstreamStatus: status, retryable } = error;
  if (code !== 'NETWORK_ERROR' && code !== 'SERVICE_UNAVAILABLE') return false;
  if (status !== undefined) return status >= 500 || passingStatus.has(status);
  // What says of itself that it does not pass: the operator's rules, or a server that does not speak MCP.
  return code === 'NETWORK_ERROR' || retryable;
}

/** The operator decides where we may connect to, and starts us anew for that. */
function isRefusedAddress(error: unknown): boolean {
  return error instanceof Error && (error instanceof RefusedAddressError || isRefusedAddress(error.cause));
}
