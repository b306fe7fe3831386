import { EngineUnavailableError } from '../model/named-errors.ts';
import { backoffMs } from './backoff.ts';
import { pause } from './waiting.ts';

/** Short even after hours: asking costs next to nothing, and servers are wanted back as soon as the engine is. */
const longestPauseMs = 5000;

/** [ERR-2] How long to leave what runs containers alone before it is tried again. */
export function engineBackoffMs(attempt: number, firstMs = 500): number {
  return Math.min(backoffMs(attempt, firstMs), longestPauseMs);
}

export interface EngineOutage {
  /** Fires, with why, when the engine is away; another one as soon as it is back. */
  readonly signal: AbortSignal;
  /** Does it again, for as long as it takes, until something other than the absence of the engine decides how it ends. */
  outlast<Result>(work: () => Promise<Result>, until: AbortSignal): Promise<Result>;
}

interface EngineOutageInput {
  /** Once for each outage, however often the engine is tried. */
  onAway(reason: EngineUnavailableError): void;
  onBack(): void;
  firstPauseMs?: number | undefined;
}

/** [ERR-2] The time in which what runs containers is away: no fault of any server, and over when it is back. */
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
            // What was found last counts: that a connection broke off says less than that nobody answers any more.
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
