import { EngineUnavailableError } from '../../../model/named-errors.ts';
import { engineBackoffMs } from '../../../resilience/backoff.ts';
import { pause } from '../../../resilience/waiting.ts';

export interface EngineOutage {
  /** Fires with the reason when the engine is away; replaced as soon as it is back. */
  readonly signal: AbortSignal;
  /** Repeats the work, for as long as it takes, until it succeeds or fails for a reason other than the engine. */
  outlast<Result>(work: () => Promise<Result>, until: AbortSignal): Promise<Result>;
}

interface EngineOutageInput {
  /** Called once for each outage, however often the engine is tried. */
  onAway(reason: EngineUnavailableError): void;
  onBack(): void;
  firstPauseMs?: number | undefined;
}

/** [ERR-2] The time in which the container engine is away. That is no server's fault, and ends when the engine is back. */
export function createEngineOutage({ onAway, onBack, firstPauseMs }: EngineOutageInput): EngineOutage {
  let away = new AbortController();
  return {
    get signal() {
      return away.signal;
    },
    async outlast(work, until) {
      try {
        for (let attempt = 0; ; attempt++) {
          try {
            return await work();
          } catch (error) {
            if (!(error instanceof EngineUnavailableError)) throw error;
            until.throwIfAborted();
            const isFirst = !away.signal.aborted;
            // The latest error counts: that nothing answers any more says more than that a connection broke.
            if (!isFirst) away = new AbortController();
            away.abort(error);
            if (isFirst) onAway(error);
          }
          await pause(engineBackoffMs(attempt, firstPauseMs), until);
        }
      } finally {
        if (away.signal.aborted) {
          away = new AbortController();
          if (!until.aborted) onBack();
        }
      }
    },
  };
}
