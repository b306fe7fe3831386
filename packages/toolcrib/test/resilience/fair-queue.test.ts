import { expect, test } from 'vitest';
import { createFairQueue } from '../../src/resilience/fair-queue.ts';

test('callers take turns, and each is served in its own order', () => {
  const queue = createFairQueue<string>({ most: 10, mostPerCaller: 5 });
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) expect(queue.push(item.charAt(0), item)).toBe(true);
  const taken = Array.from({ length: 7 }, () => queue.take());
  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined]);
  expect(queue.size).toBe(0);
});

test('neither the queue nor one caller’s part of it grows beyond its limit', () => {
  const queue = createFairQueue<number>({ most: 3, mostPerCaller: 2 });
  expect([queue.push('a', 1), queue.push('a', 2), queue.push('a', 3)]).toEqual([true, true, false]);
  expect([queue.push('b', 4), queue.push('b', 5)]).toEqual([true, false]);
  expect(queue.take()).toBe(1);
  expect(queue.push('b', 5)).toBe(true);
});

test('removed entries are not taken, and removing an unknown one changes nothing', () => {
  const queue = createFairQueue<string>({ most: 10, mostPerCaller: 5 });
  for (const item of ['a1', 'a2', 'b1']) queue.push(item.charAt(0), item);
  queue.remove('a', 'a1');
  queue.remove('a', 'a1');
  queue.remove('nobody', 'x');
  queue.remove('b', 'b1');
  expect(queue.size).toBe(1);
  expect([queue.take(), queue.take()]).toEqual(['a2', undefined]);
});
