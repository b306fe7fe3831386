import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPaced } from '../../src/resilience/paced.ts';

/** A clock that stands still but for pauses and for what the test lets pass. */
function paced() {
  let time = 0;
  const [waits, begun]: [number[], (() => void)[]] = [[], []];
  const ask = createPaced({
    work: () => new Promise((resolve) => begun.push(resolve)),
    pauses: { firstMs: 10, longestMs: 50, quietMs: 100 },
    now: () => time,
    async wait(ms) {
      waits.push(ms);
      time += ms;
    },
  });
  return {
    ask,
    waits,
    begun,
    pass: (ms: number) => (time += ms),
    /** Lets the work that was begun last end. */
    async end() {
      begun.at(-1)?.();
      await nextTurn();
    },
  };
}

test('[MCP-7] a task that is requested a thousand times while it runs, runs once more', async () => {
  const { ask, begun, end } = paced();
  for (let time = 0; time < 1000; time++) ask();
  expect(begun).toHaveLength(1);
  await end();
  expect(begun).toHaveLength(2);
  await end();
  expect(begun).toHaveLength(2);
  ask();
  await nextTurn();
  expect(begun).toHaveLength(3);
});

test('[INV-1] pauses grow up to a limit when a task is requested again and again, and quiet resets them', async () => {
  const { ask, waits, pass, begun, end } = paced();
  for (let time = 0; time < 6; time++) {
    ask();
    await nextTurn();
    await end();
  }
  expect([begun.length, waits]).toEqual([6, [10, 20, 40, 50, 50]]);
  pass(99);
  ask();
  await nextTurn();
  // It had waited long enough, and yet it is no quiet source.
  expect([begun.length, waits.length]).toEqual([7, 5]);
  await end();
  pass(100);
  ask();
  await nextTurn();
  await end();
  ask();
  await nextTurn();
  expect([begun.length, waits]).toEqual([9, [10, 20, 40, 50, 50, 10]]);
});
