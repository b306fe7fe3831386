import { setTimeout as delay } from 'node:timers/promises';

/** Pauses between refreshes of a source that keeps changing. */
export interface Pauses {
  /** The pause after the second change in a row; it doubles with every further change. */
  firstMs: number;
  longestMs: number;
  /** After this long without a change, and at least as long as the last pause, the pauses start over. */
  quietMs: number;
}

const usualPauses: Pauses = { firstMs: 250, longestMs: 300_000, quietMs: 60_000 };

interface PacedInput {
  work(): Promise<void>;
  pauses?: Pauses | undefined;
  /** Called before every pause. */
  onPause?(ms: number): void;
  now?(): number;
  wait?(ms: number): Promise<unknown>;
}

/**
 * [INV-1] Coalesces requests: any number of them during a run cause one more run, which covers them all. The longer requests keep coming,
 * the longer the pauses between runs.
 */
export function createPaced({ work, pauses = usualPauses, onPause, now = () => performance.now(), wait = unheld }: PacedInput): () => void {
  const { firstMs, longestMs, quietMs } = pauses;
  let pauseMs = 0;
  let endedAt = Number.NEGATIVE_INFINITY;
  let busy = false;
  let again = false;

  async function run(): Promise<void> {
    busy = true;
    do {
      const sinceMs = now() - endedAt;
      pauseMs = sinceMs >= Math.max(quietMs, pauseMs) ? 0 : Math.min(Math.max(pauseMs * 2, firstMs), longestMs);
      if (pauseMs > sinceMs) {
        onPause?.(pauseMs);
        await wait(pauseMs - sinceMs);
      }
      again = false;
      await work();
      endedAt = now();
    } while (again);
    busy = false;
  }

  return () => {
    again = true;
    if (!busy) void run();
  };
}

/** Does not keep the process alive. */
const unheld = (ms: number) => delay(ms, undefined, { ref: false });
