import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';
import { CribError } from '../model/crib-error.ts';
import type { KeyRing } from './key-ring.ts';

/** The record and field that a sealed value belongs to. It opens as part of no other. */
export interface SealedPlace {
  id: string;
  field: string;
}

interface Parts {
  kid: string;
  nonce: Buffer;
  tag: Buffer;
  ciphertext: Buffer;
}

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const authTagLength = 16;

/** [SEC-3] `v1.<kid>.<nonce>.<tag>.<ciphertext>` with AES-256-GCM under the ring's newest key. */
export function seal(ring: KeyRing, plaintext: string, place: SealedPlace): string {
  const { kid, nonce, tag, ciphertext } = encrypt(ring, Buffer.from(plaintext), place);
  return ['v1', kid, ...[nonce, tag, ciphertext].map((part) => part.toString('base64url'))].join('.');
}

/** The value, or `CONFLICT`: with the wrong ring, in the wrong place or after any change there is none. */
export function open(ring: KeyRing, sealed: string, place: SealedPlace): string {
  const parts = partsOf(sealed);
  if (parts === undefined) throw damaged('It is not in the form in which secrets are stored.');
  const { kid } = parts;
  const found = ring.find(kid);
  if (found === undefined) {
    throw new CribError(
      'CONFLICT',
      `The secret is sealed with the key ${kid}, and ${ring.origin} holds ${ring.kids.join(', ')} only. Give this server the keys of those it shares its database with, in TOOLCRIB_KEYS.`,
    );
  }
  const bytes = decrypt(found.key, parts, place);
  if (bytes === undefined) throw damaged(`It was changed or moved after it was sealed, or ${kid} is not the key it was then.`);
  return bytes.toString();
}

/** The same for bytes: the length of the kid in one byte, then kid, nonce, tag and ciphertext. */
export function sealBytes(ring: KeyRing, bytes: Uint8Array, place: SealedPlace): Buffer {
  const { kid, nonce, tag, ciphertext } = encrypt(ring, bytes, place);
  return Buffer.concat([Buffer.from([kid.length]), Buffer.from(kid), nonce, tag, ciphertext]);
}

/** Undefined where they do not open: with the wrong ring, in the wrong place, after any change, or where they were never sealed. */
export function openBytes(ring: KeyRing, sealed: Uint8Array, place: SealedPlace): Buffer | undefined {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const kidEnd = 1 + (bytes[0] ?? 0);
  const tagAt = kidEnd + nonceBytes;
  const ciphertextAt = tagAt + authTagLength;
  const kid = bytes.toString('latin1', 1, kidEnd);
  const found = ring.find(kid);
  if (found === undefined || bytes.length < ciphertextAt) return undefined;
  const [nonce, tag] = [bytes.subarray(kidEnd, tagAt), bytes.subarray(tagAt, ciphertextAt)];
  return decrypt(found.key, { kid, nonce, tag, ciphertext: bytes.subarray(ciphertextAt) }, place);
}

/** Which key a value was sealed with; undefined where it is not sealed at all. */
export function kidOf(sealed: string): string | undefined {
  return partsOf(sealed)?.kid;
}

function encrypt({ newest: { kid, key } }: KeyRing, plaintext: Uint8Array, place: SealedPlace): Parts {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength });
  cipher.setAAD(boundTo(kid, place));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return { kid, nonce, tag: cipher.getAuthTag(), ciphertext };
}

function decrypt(key: KeyObject, { kid, nonce, tag, ciphertext }: Parts, place: SealedPlace): Buffer | undefined {
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength });
  decipher.setAAD(boundTo(kid, place));
  decipher.setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch {
    return undefined;
  }
}

function partsOf(sealed: string): Parts | undefined {
  const [version, kid = '', ...encoded] = sealed.split('.');
  const [nonce, tag, ciphertext] = encoded.map((text) => {
    const bytes = Buffer.from(text, 'base64url');
    // The last letter has bits to spare, which the decoder would pass over.
    return bytes.toString('base64url') === text ? bytes : undefined;
  });
  if (version !== 'v1' || kid === '' || encoded.length !== 3 || ciphertext === undefined) return undefined;
  if (nonce?.length !== nonceBytes || tag?.length !== authTagLength) return undefined;
  return { kid, nonce, tag, ciphertext };
}

/** As JSON, so that no two places are ever written alike. */
function boundTo(kid: string, { id, field }: SealedPlace): Buffer {
  return Buffer.from(JSON.stringify(['v1', kid, id, field]));
}

function damaged(reason: string): CribError {
  return new CribError('CONFLICT', `The secret does not open. ${reason} Restore it from a backup, or delete it and set it again.`);
}
