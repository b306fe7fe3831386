import { setTimeout as delay } from 'node:timers/promises';

/** Waits for a promise, but no longer than this. */
export async function settledWithin(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([promise, delay(milliseconds, undefined, { signal: over.signal })]);
  over.abort();
}
