import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { openBuiltins, structuredOf, textOf } from './builtin-caller.ts';

const { callNow } = openBuiltins();

function uuidsOf(args: { version?: number; count?: number }): string[] {
  return textOf(callNow('uuid', args)).split('\n');
}

test.each([
  [{}, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
  [{ version: 4 }, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
  [{ version: 7 }, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
])('[BI-1] uuid %j makes as many as requested, all different', (args, pattern) => {
  expect(uuidsOf(args)).toHaveLength(1);
  const many = uuidsOf({ ...args, count: 100 });
  expect(new Set(many).size).toBe(100);
  for (const uuid of many) expect(uuid).toMatch(pattern);
  expect(structuredOf(callNow('uuid', args))).toEqual({ uuids: [expect.stringMatching(pattern)] });
});

test('[BI-1] UUIDs of version 7 carry the time and are in order', () => {
  const { callNow } = openBuiltins();
  const before = Date.now();
  const uuids = Array.from({ length: 50 }, () => textOf(callNow('uuid', { version: 7, count: 100 })).split('\n')).flat();
  expect(uuids.toSorted()).toEqual(uuids);
  const first = Number.parseInt(uuids[0]!.replace('-', '').slice(0, 12), 16);
  expect(first).toBeGreaterThanOrEqual(before);
  expect(first).toBeLessThanOrEqual(Date.now());
});

test.each([
  [{ text: 'abc' }, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [{ text: '' }, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  [{ text: 'abc', algorithm: 'md5' }, '900150983cd24fb0d6963f7d28e17f72'],
  [{ text: 'abc', algorithm: 'sha1' }, 'a9993e364706816aba3e25717850c26c9cd0d89d'],
  [{ text: 'abc', algorithm: 'sha1', encoding: 'base64' }, 'qZk+NkcGgWq6PiVxeFDCbJzQ2J0='],
  [{ text: 'größe 💥', algorithm: 'sha384' }, createHash('sha384').update('größe 💥', 'utf8').digest('hex')],
  [{ text: 'abc', algorithm: 'sha512', encoding: 'base64' }, createHash('sha512').update('abc').digest('base64')],
])('[BI-1] hash %j gives the right digest', (args, digest) => {
  const output = callNow('hash', args);
  expect(structuredOf(output)).toMatchObject({ digest });
  expect(textOf(output)).toBe(digest);
});
