import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createQuickHmac } from '../../src/secrets/quick-hmac.ts';

const texts = ['', 'a', 'ü🧰\uD800\0', 'x'.repeat(1365), 'x'.repeat(1366), '🧰'.repeat(682), '€'.repeat(5000)];

test.each([0, 1, 31, 32, 63, 64])('[SEC-4] is the HMAC-SHA-256 that everybody else computes, with a key of %i bytes', (bytes) => {
  const key = randomBytes(bytes);
  const quick = createQuickHmac(key);
  // Twice, and the longest first: nothing of one text may be left in the next.
  for (const text of [...texts.toReversed(), ...texts]) {
    expect(quick(text)).toBe(createHmac('sha256', key).update(text).digest('base64url'));
  }
});

test('a key that would have to be hashed first is refused', () => {
  expect(() => createQuickHmac(randomBytes(65))).toThrow('64 bytes');
});
