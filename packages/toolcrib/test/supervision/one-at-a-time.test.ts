import { expect, test } from 'vitest';
import { oneAtATime } from '../../src/supervision/one-at-a-time.ts';

test('[MCP-7] what is asked for a thousand times while it is being done is done once more', async () => {
  const begun: (() => void)[] = [];
  const ask = oneAtATime(() => new Promise((resolve) => begun.push(resolve)));
  for (let time = 0; time < 1000; time++) ask();
  expect(begun).toHaveLength(1);
  begun[0]?.();
  await new Promise(setImmediate);
  expect(begun).toHaveLength(2);
  begun[1]?.();
  await new Promise(setImmediate);
  expect(begun).toHaveLength(2);
  ask();
  expect(begun).toHaveLength(3);
});
