import { DpopSession, generateDpopKeyPair } from '@modelcontextprotocol/client';
import { calculateJwkThumbprint, exportJWK, importJWK, type JWK } from 'jose';

/** [RFC 9449] A key that tokens are bound to, in the form in which it is sealed with them. */
export type DpopKey = Record<string, unknown>;

export async function makeDpopKey(): Promise<DpopKey> {
  const { privateKey } = await generateDpopKeyPair({ alg: 'ES256', extractable: true });
  return { ...(await exportJWK(privateKey)) };
}

/** The key and the nonces of servers; to be kept as long as the tokens. */
export async function openDpopSession(key: DpopKey): Promise<DpopSession> {
  const { d: _private, ...publicJwk } = key as JWK;
  const [privateKey, publicKey] = await Promise.all([importJWK(key as JWK, 'ES256'), importJWK(publicJwk, 'ES256')]);
  if (privateKey instanceof Uint8Array || publicKey instanceof Uint8Array) throw new TypeError('Not a key pair');
  const thumbprint = await calculateJwkThumbprint(publicJwk, 'sha256');
  return DpopSession.create({ keyPair: { privateKey, publicKey, publicJwk, thumbprint, alg: 'ES256' } });
}
