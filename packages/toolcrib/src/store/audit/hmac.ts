import { createHmac, hash, type KeyObject } from 'node:crypto';

interface Pads {
  inner: Buffer;
  /** Followed by room for the inner hash. */
  outer: Buffer;
}

const blockBytes = 64;
const hashBytes = 32;
const scratch = Buffer.alloc(65_536);
const padsByKey = new WeakMap<KeyObject, Pads>();

/**
 * HMAC-SHA-256 as RFC 2104 defines it, in base64url. Every recorded call has one, and two hashes at once take half the time of `createHmac`,
 * which makes an object for each mac.
 */
export function hmac(key: KeyObject, data: string | Uint8Array): string {
  const mostBytes = typeof data === 'string' ? data.length * 3 : data.length;
  const pads = padsByKey.get(key) ?? makePads(key);
  if (pads === undefined || blockBytes + mostBytes > scratch.length) return createHmac('sha256', key).update(data).digest('base64url');
  scratch.set(pads.inner);
  let length = mostBytes;
  if (typeof data === 'string') length = scratch.write(data, blockBytes);
  else scratch.set(data, blockBytes);
  pads.outer.write(hash('sha256', scratch.subarray(0, blockBytes + length), 'binary'), blockBytes, 'latin1');
  return hash('sha256', pads.outer, 'base64url');
}

/** Undefined for a key longer than a block, which would have to be hashed first. */
function makePads(key: KeyObject): Pads | undefined {
  const bytes = key.export();
  if (bytes.length > blockBytes) return undefined;
  const inner = Buffer.alloc(blockBytes, 0x36);
  const outer = Buffer.alloc(blockBytes + hashBytes, 0x5c);
  for (const [place, byte] of bytes.entries()) {
    inner[place] = byte ^ 0x36;
    outer[place] = byte ^ 0x5c;
  }
  const pads = { inner, outer };
  padsByKey.set(key, pads);
  return pads;
}
