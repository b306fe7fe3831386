import { randomUUID } from 'node:crypto';
import { importJWK, SignJWT } from 'jose';
import type { JSONWebKeySet, JWTPayload } from 'jose';
import type { DevIssuerState } from './dev-issuer-state.ts';

export interface DevSigner {
  /** The public half of the key. */
  readonly jwks: JSONWebKeySet;
  nowSeconds(): number;
  /** An access token that expires after `lifeSeconds`. */
  sign(claims: JWTPayload, lifeSeconds: number): Promise<string>;
}

export async function createDevSigner(issuer: string, state: DevIssuerState, now: () => number): Promise<DevSigner> {
  const { d: _private, ...publicKey } = state.private_key;
  const signingKey = await importJWK({ ...state.private_key }, 'ES256');
  const nowSeconds = () => Math.floor(now() / 1000);
  return {
    jwks: { keys: [{ ...publicKey, kid: state.kid, alg: 'ES256', use: 'sig' }] },
    nowSeconds,
    sign: (claims, lifeSeconds) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: state.kid })
        .setIssuer(issuer)
        .setJti(randomUUID())
        .setIssuedAt(nowSeconds())
        .setExpirationTime(nowSeconds() + lifeSeconds)
        .sign(signingKey),
  };
}
