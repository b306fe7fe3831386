import { CribError } from '../model/crib-error.ts';
import type { Resilience } from '../model/source-definition.ts';
import { EngineUnavailableError } from '../model/named-errors.ts';
import { backoffMs } from './backoff.ts';
import { engineBackoffMs } from './engine-outage.ts';
import { pause } from './waiting.ts';

export interface Persistence {
  /** Goes on trying in the background after a start that failed with this; nothing more where it does so already. */
  goOn(failure: unknown): void;
  end(reason: Error): void;
}

interface PersistenceInput {
  start(afterOutage: boolean): Promise<void>;
  /** Whether it is no longer its to start: somebody else has, or it works. */
  isOver(): boolean;
  restart: Resilience['restart'];
  enginePauseMs?: number | undefined;
}

/** What may be over by itself; a package that is not there, or a value that is missing, will still be so in a minute. */
const passing = new Set<unknown>(['NETWORK_ERROR', 'SERVICE_UNAVAILABLE']);

function isPassing(error: unknown): boolean {
  if (!(error instanceof CribError) || !passing.has(error.code)) return false;
  // What says of itself that it does not pass: the operator's rules.
  return error.code !== 'SERVICE_UNAVAILABLE' || error.retryable;
}

/**
 * [MCP-10] When Toolcrib starts, the servers it speaks to may be starting too, and nobody is there who would start them again by hand. So a
 * failed start is tried as often as a lost session is. [ERR-2] Where only the engine of containers is away it is tried for as long as that lasts.
 */
export function createPersistence({ start, isOver, restart, enginePauseMs }: PersistenceInput): Persistence {
  let trying: AbortController | undefined;

  async function tryAgain(failure: unknown, signal: AbortSignal): Promise<void> {
    let error = failure;
    let attempts = 0;
    let outages = 0;
    for (;;) {
      if (error instanceof EngineUnavailableError) {
        await pause(engineBackoffMs(outages++, enginePauseMs), signal);
      } else {
        if (attempts >= restart.maxAttempts || !isPassing(error)) return;
        outages = 0;
        await pause(backoffMs(attempts++, restart.backoffMs), signal);
      }
      if (isOver()) return;
      try {
        return await start(error instanceof EngineUnavailableError);
      } catch (next) {
        signal.throwIfAborted();
        error = next;
      }
    }
  }

  return {
    goOn(failure) {
      if (trying !== undefined) return;
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
