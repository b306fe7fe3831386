import { setTimeout as delay } from 'node:timers/promises';

/** How long to leave a source alone that keeps changing. */
export interface Pauses {
  /** After the second change in a row; it doubles with every further one. */
  firstMs: number;
  longestMs: number;
  /** Without a change for so long, and for as long as the last pause, all is forgotten. */
  quietMs: number;
}

const usualPauses: Pauses = { firstMs: 250, longestMs: 300_000, quietMs: 60_000 };

interface PacedInput {
  work(): Promise<void>;
  pauses?: Pauses | undefined;
  /** Told of every pause. */
  onPause?(ms: number): void;
  now?(): number;
  wait?(ms: number): Promise<unknown>;
}

/**
 * [INV-1] Asked however often while it is being done, it is done once more afterwards: what was asked for in between is seen by that. Asked
 * again and again, it is done more and more seldom.
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

/** Keeps no process alive. */
const unheld = (ms: number) => delay(ms, undefined, { ref: false });
