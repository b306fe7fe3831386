import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createAuditKeys } from '../../src/secrets/audit-keys.ts';
import { parseKeyRing } from '../../src/secrets/key-ring.ts';
import { hmac } from '../../src/store/audit/hmac.ts';

// Computed with Python's hmac and hashlib: a record that was written years ago must still verify.
test.each([
  ['', 'E56nknHIJGuGvwFwUpvB9d3_gMgwko7DWJv6f6NKKrk'],
  ['a row', 'pXaiLvG-dZzKo98FDK6FElo2KkTi6OOBmLyu1l2ZRU4'],
  ['ü🧰', 'tHxYfMSeevWcunljzXttde5dn4iXz_f2Fbn0GrJ8wLk'],
])('[SEC-4] the MAC of a row is HMAC-SHA-256 under a key derived by HKDF: %s', (text, mac) => {
  const keys = createAuditKeys(parseKeyRing(`k1:${hash('sha256', 'k1', 'base64')}`, 'a test'));
  expect(hmac(keys.find('k1')!, text)).toBe(mac);
});
