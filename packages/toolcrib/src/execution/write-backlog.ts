import { setTimeout as delay } from 'node:timers/promises';

interface Backlog<Item> {
  /** The items that are left, oldest first. */
  left(): readonly Item[];
  /** Writes the oldest, and removes them from those that are left. */
  write(oldest: Item[]): Promise<void>;
  /** Whether a write failed because of its content, so that it will never succeed. */
  isRejected(error: unknown): boolean;
  /** Takes off the oldest, which cannot be written at all. */
  giveUp(error: unknown): void;
  isStopped(): boolean;
}

const mostAtOnce = 1000;
const firstPauseMs = 50;
const longestPauseMs = 1000;

/** Retries writes that failed, oldest first. True once nothing is left; false where it was stopped. */
export async function writeBacklog<Item>({ left, write, isRejected, giveUp, isStopped }: Backlog<Item>): Promise<boolean> {
  for (let pauseMs = firstPauseMs, size = mostAtOnce; left().length > 0;) {
    await delay(pauseMs);
    if (isStopped()) return false;
    const oldest = left().slice(0, size);
    try {
      await write(oldest);
      [pauseMs, size] = [0, mostAtOnce];
    } catch (error) {
      const rejected = isRejected(error);
      if (rejected && oldest.length === 1) giveUp(error);
      // One that can never be written must not hold up the others: they are written one by one until it is found.
      [pauseMs, size] = rejected ? [0, 1] : [Math.min(longestPauseMs, (pauseMs + 25) * 2), size];
    }
  }
  return true;
}
