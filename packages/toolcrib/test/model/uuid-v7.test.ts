import { expect, test } from 'vitest';
import { uuidV7 } from '../../src/model/uuid-v7.ts';

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('an id is a UUID of version 7 and begins with the time', () => {
  const before = Date.now();
  const id = uuidV7();
  expect(id).toMatch(form);
  expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBeGreaterThanOrEqual(before);
});

test('a hundred thousand ids are all different, well formed, and in the order they were made', () => {
  const ids = Array.from({ length: 100_000 }, () => uuidV7());
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => form.test(id))).toBe(true);
  expect(ids.every((id, index) => index === 0 || (ids[index - 1] ?? '') < id)).toBe(true);
});

test('ids stay in order within one millisecond, beyond its capacity, and when the clock goes back', () => {
  const now = Date.now() + 60_000;
  const ids = [...Array.from({ length: 10_000 }, () => uuidV7(now)), uuidV7(now - 5000), uuidV7(now + 1), uuidV7(now + 1000)];
  expect(ids.toSorted()).toEqual(ids);
  expect(ids.at(-1)?.replaceAll('-', '').slice(0, 12)).toBe((now + 1000).toString(16).padStart(12, '0'));
});

test('the random parts of two ids made together have nothing in common', () => {
  const parts = Array.from({ length: 2000 }, () => uuidV7().slice(19));
  expect(new Set(parts).size).toBe(parts.length);
});
