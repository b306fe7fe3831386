import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { kidOf, open, openBytes, seal, sealBytes } from '../../src/secrets/seal.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { sampleKeyRing, writtenKey } from './key-rings.ts';

const place = { id: 'row-1', field: 'github-token' };
const refusal = (message: RegExp) => expect.objectContaining({ code: 'CONFLICT', message: expect.stringMatching(message) });

test.each(['x', 'hunter2', 'zażółć gęślą 🗝️', 'a\nb\0c', 'y'.repeat(65_536)])('[SEC-3] a sealed value opens again', (value) => {
  const ring = sampleKeyRing('k1');
  expect(open(ring, seal(ring, value, place), place)).toBe(value);
});

test('[SEC-3] a sealed value has the documented form, and its nonce is always new', () => {
  const ring = sampleKeyRing('k1');
  const sealed = Array.from({ length: 100 }, () => seal(ring, 'hunter2', place));
  for (const one of sealed) expect(one).toMatch(/^v1\.k1\.[\w-]{16}\.[\w-]{22}\.[\w-]{10}$/);
  expect(new Set(sealed.map((one) => one.split('.')[2])).size).toBe(100);
  expect(kidOf(sealed[0] ?? '')).toBe('k1');
});

test('[SEC-3] the newest key seals, and values sealed with older keys still open', () => {
  const old = writtenKey('old');
  const sealed = seal(sampleKeyRing(old), 'hunter2', place);
  const ring = sampleKeyRing('new', old);
  expect(open(ring, sealed, place)).toBe('hunter2');
  expect(kidOf(seal(ring, 'hunter2', place))).toBe('new');
});

test.each([
  ['another record', { ...place, id: 'row-2' }],
  ['another field', { ...place, field: 'other' }],
  ['a record and a field that read alike when joined', { id: 'row-1github', field: '-token' }],
])('[SEC-3] a value that was copied to %s does not open', (_where, other) => {
  const ring = sampleKeyRing('k1');
  expect(() => open(ring, seal(ring, 'hunter2', place), other)).toThrow(refusal(/does not open.*changed or moved/));
});

test('[SEC-3] a value does not open after any change of a letter', () => {
  const ring = sampleKeyRing('k1', 'k2');
  const sealed = seal(ring, 'hunter2', place);
  const letters = ['A', 'B', 'g', '.', '=', '2'];
  const changed = sealed
    .split('')
    .flatMap((_, index) => letters.map((letter) => sealed.slice(0, index) + letter + sealed.slice(index + 1)));
  const shortened = sealed.split('').map((_, length) => sealed.slice(0, length));
  for (const other of [...changed, ...shortened].filter((text) => text !== sealed)) {
    expect(() => open(ring, other, place)).toThrow(refusal(/./));
  }
});

test('[SEC-3] a short tag, which would be easier to guess, is refused', () => {
  const ring = sampleKeyRing('k1');
  const [version, kid, nonce, tag = '', ciphertext] = seal(ring, 'hunter2', place).split('.');
  const short = Buffer.from(tag, 'base64url').subarray(0, 4).toString('base64url');
  expect(() => open(ring, [version, kid, nonce, short, ciphertext].join('.'), place)).toThrow(refusal(/not in the form/));
});

test('[SEC-3] a value under an unknown key says which key is needed', () => {
  const sealed = seal(sampleKeyRing('theirs'), 'hunter2', place);
  expect(() => open(sampleKeyRing('ours'), sealed, place)).toThrow(refusal(/sealed with the key theirs.*holds ours only.*TOOLCRIB_KEYS/));
});

test('[SEC-3] another key under the same id does not open it', () => {
  expect(() => open(sampleKeyRing('k1'), seal(sampleKeyRing('k1'), 'hunter2', place), place)).toThrow(refusal(/does not open/));
});

test('[ENV-4] a secret shows its value only on request', () => {
  const secret = new Secret('hunter2');
  const shown = [
    String(secret),
    `a ${String(secret)}`,
    JSON.stringify({ secret }),
    inspect(secret),
    inspect([{ secret }], { showHidden: true, depth: 9 }),
  ];
  for (const text of shown) {
    expect(text).toContain('***');
    expect(text).not.toContain('hunter2');
  }
  expect(Object.keys(secret)).toEqual([]);
  expect(secret.reveal()).toBe('hunter2');
});

test('[SEC-3] sealed bytes open again, with older keys too, but nowhere else and not after any change', () => {
  const old = writtenKey('an-older-key');
  const bytes = Buffer.from(Array.from({ length: 300 }, (_, index) => index % 256));
  const sealed = sealBytes(sampleKeyRing(old), bytes, place);
  const ring = sampleKeyRing('new', old);
  expect(openBytes(ring, sealed, place)).toEqual(bytes);
  expect(openBytes(ring, sealBytes(ring, Buffer.alloc(0), place), place)).toEqual(Buffer.alloc(0));
  expect(openBytes(ring, sealed, { ...place, id: 'row-2' })).toBeUndefined();
  expect(openBytes(sampleKeyRing('new'), sealed, place)).toBeUndefined();
  for (let index = 0; index < sealed.length; index++) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(openBytes(ring, changed, place)).toBeUndefined();
  }
  for (const never of [Buffer.alloc(0), Buffer.from('never sealed'), sealed.subarray(0, 20)])
    expect(openBytes(ring, never, place)).toBeUndefined();
});
