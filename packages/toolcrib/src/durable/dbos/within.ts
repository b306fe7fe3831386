import { setTimeout as delay } from 'node:timers/promises';

/** Waits for work, but no longer than `ms`: a stopping server must not hang. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, delay(ms, undefined, { ref: false })]);
}
