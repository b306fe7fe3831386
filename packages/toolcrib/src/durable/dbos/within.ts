import { setTimeout as delay } from 'node:timers/promises';

/** Waits for something, but not for ever: for what a server that stops would like to see through. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, delay(ms, undefined, { ref: false })]);
}
