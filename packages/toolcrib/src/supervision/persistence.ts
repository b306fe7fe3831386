import { CribError } from '../model/crib-error.ts';
import type { Resilience } from '../model/source-definition.ts';
import { EngineUnavailableError } from '../model/named-errors.ts';
import { RefusedAddressError } from '../net/network-rules.ts';
import { backoffMs, engineBackoffMs } from '../resilience/backoff.ts';
import { pause } from '../resilience/waiting.ts';

export interface Persistence {
  /** Retries in the background after a start that failed with `failure`, beginning with the first pause. */
  goOn(failure: unknown): void;
  end(reason: Error): void;
}

interface PersistenceInput {
  /** `quietly`: the status stays as it is until the source is up or fails for another reason. */
  start(quietly: boolean): Promise<void>;
  /** Whether retrying is over: the source was started by somebody else, or works. */
  isOver(): boolean;
  restart: Resilience['restart'];
  /** True for remote sources. Trying them costs next to nothing, so they are retried without limit. */
  elsewhere: boolean;
  /** Called with the time of the next attempt; not while the container engine is down, which is tried every few seconds. */
  onPause(retryAt: Date): void;
  enginePauseMs?: number | undefined;
}

/**
 * [MCP-10] A server may start after us, or be down for a while, with nobody there to start it by hand. So a failed start is retried after
 * growing pauses; [ERR-2] after short ones if only the container engine is down.
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
      trying?.abort(new CribError('CONFLICT', 'The source was started by hand meanwhile'));
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

/** Client errors that may pass: the path is not served yet, or there were too many requests. */
const passingStatus = new Set([404, 408, 425, 429]);

/** Whether an error may pass by itself. A missing package, a refused credential or a missing value will not. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof CribError) || isRefusedAddress(error)) return false;
  const { code, upstreamStatus: status, retryable } = error;
  if (code !== 'NETWORK_ERROR' && code !== 'SERVICE_UNAVAILABLE') return false;
  if (status !== undefined) return status >= 500 || passingStatus.has(status);
  // Not retryable: refused by the operator's rules, or a server that does not speak MCP.
  return code === 'NETWORK_ERROR' || retryable;
}

/** Retrying is pointless: the operator sets the network rules, and changing them takes a restart of this server. */
function isRefusedAddress(error: unknown): boolean {
  return error instanceof Error && (error instanceof RefusedAddressError || isRefusedAddress(error.cause));
}
