import { randomBytes } from 'node:crypto';
import { parseKeyRing, type KeyRing } from '../../src/secrets/key-ring.ts';

/** One key as it is written: `kid:base64`. */
export function writtenKey(kid: string): string {
  return `${kid}:${randomBytes(32).toString('base64')}`;
}

/** A ring with random keys of these ids, or with keys that are written already; the first is the newest. */
export function sampleKeyRing(...keys: string[]): KeyRing {
  return parseKeyRing(keys.map((key) => (key.includes(':') ? key : writtenKey(key))).join(','), 'the ring of the test');
}
