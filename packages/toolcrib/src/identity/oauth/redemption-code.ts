import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Crockford's base 32: none of its characters is mistaken for another when it is read or typed. */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const length = 16;

/** The code shown only in the browser that finished an authorization: 80 bits, in groups of four. */
export function makeRedemptionCode(): string {
  const drawn = [...randomBytes(length)].map((byte) => letters[byte & 31]).join('');
  return drawn.replaceAll(/.{4}(?=.)/g, '$&-');
}

/** The stored form of a code. Spaces, dashes and case make no difference. */
export function redemptionHash(code: string): string {
  return hash('sha256', code.replaceAll(/[^0-9a-z]/gi, '').toUpperCase(), 'base64url');
}

export function isRedemptionCode(code: string, kept: string): boolean {
  return timingSafeEqual(Buffer.from(redemptionHash(code)), Buffer.from(kept));
}
