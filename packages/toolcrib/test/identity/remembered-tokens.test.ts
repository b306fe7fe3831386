import { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKeySet } from '../../src/identity/jwks.ts';
import type { KeySet } from '../../src/identity/jwks.ts';
import { createTokenVerifier } from '../../src/identity/verify-token.ts';
import { refusal } from '../fixtures/refusal.ts';
import { fetchDocument } from '../fixtures/loopback-egress.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';

let idp: Awaited<ReturnType<typeof startTokenIssuer>>;
beforeAll(async () => {
  idp = await startTokenIssuer();
});
afterAll(() => idp[Symbol.asyncDispose]());

const seconds = () => Math.floor(Date.now() / 1000);

/** The issuer's real key set, and how often it was asked. */
function counted() {
  const keys = createKeySet({ fetchDocument, issuer: idp.issuer });
  const count = { lookups: 0 };
  const keySet: KeySet = (header) => {
    count.lookups += 1;
    return keys(header);
  };
  return { count, issuers: [{ ...idp.config, keySet }] };
}

test('[ID-1] a token is verified once, and then accepted without waiting', async () => {
  const { count, issuers } = counted();
  const verifier = createTokenVerifier({ fetchDocument, issuers });
  const token = await idp.sign();
  const first = verifier.verify(token);
  expect(first).toBeInstanceOf(Promise);
  const principal = await first;
  expect(verifier.verify(token)).toBe(principal);
  expect(count.lookups).toBe(1);
});

test('[ID-1] many first uses of one token at the same time verify it once', async () => {
  const { count, issuers } = counted();
  const verifier = createTokenVerifier({ fetchDocument, issuers });
  const token = await idp.sign();
  const principals = await Promise.all(Array.from({ length: 100 }, async () => verifier.verify(token)));
  expect(new Set(principals).size).toBe(1);
  expect(count.lookups).toBe(1);
});

test('a refusal is not remembered, and does not hang', async () => {
  const { count, issuers } = counted();
  const verifier = createTokenVerifier({ fetchDocument, issuers });
  const token = await idp.sign({ aud: 'x' });
  expect(await refusal(token, verifier)).toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await refusal(token, verifier)).toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(count.lookups).toBe(2);
  expect(verifier.cached).toBe(0);
});

test('[ID-1] a remembered token expires at its time', async () => {
  let time = Date.now();
  const verifier = createTokenVerifier({ fetchDocument, issuers: [idp.config], now: () => time });
  const exp = Math.floor(time / 1000) + 50;
  const token = await idp.sign({ exp });
  await verifier.verify(token);
  time = exp * 1000 - 1;
  expect(verifier.verify(token)).not.toBeInstanceOf(Promise);
  time = exp * 1000 + 5000;
  expect(await refusal(token, verifier)).toMatchObject({ message: /has expired/ });
});

test('[ID-1] a remembered token ends five minutes after its key was last seen, even while the issuer is down', async () => {
  await using other = await startTokenIssuer();
  let time = Date.now();
  const verifier = createTokenVerifier({ fetchDocument, issuers: [other.config], now: () => time });
  const token = await other.sign({ exp: seconds() + 86_400 });
  const seenAt = time;
  await verifier.verify(token);
  // Withdrawn, and nobody can be told: the attacker keeps the issuer from being reached.
  other.published.length = 0;
  await other.stop();
  // Used all the time, so that nothing of it is ever forgotten.
  while ((time += 20_000) < seenAt + 300_000) await verifier.verify(token);
  time = seenAt + 300_000;
  await expect(Promise.resolve().then(() => verifier.verify(token))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  await other.restart();
  time += 5_000;
  expect(await refusal(token, verifier)).toMatchObject({ code: 'UNAUTHENTICATED', message: /not signed by a key of its issuer/ });
});

test('[ID-1] a remembered token is verified again after a minute, so that a withdrawn key is noticed', async () => {
  await using other = await startTokenIssuer();
  let time = Date.now();
  const verifier = createTokenVerifier({ fetchDocument, issuers: [other.config], now: () => time });
  const token = await other.sign({ exp: seconds() + 86_400 });
  const principal = await verifier.verify(token);
  other.published.length = 0;
  time += 59_999;
  expect(verifier.verify(token)).toBe(principal);
  time += 300_000;
  expect(await refusal(token, verifier)).toMatchObject({ code: 'UNAUTHENTICATED', message: /not signed by a key of its issuer/ });
});

test('an expiry beyond the calendar is still accepted', async () => {
  const { expiresAt } = await createTokenVerifier({ fetchDocument, issuers: [idp.config] }).verify(await idp.sign({ exp: 1e300 }));
  expect(new Date(expiresAt).getTime()).toBe(8.64e15);
});

test('memory stays bounded with 20,000 tokens, and the latest are remembered', async () => {
  const key = KeyObject.from(idp.firstKey.privateKey);
  const verifier = createTokenVerifier({ fetchDocument, issuers: [idp.config] });
  const sign = (jti: string) =>
    new SignJWT({ iss: idp.issuer, aud: 'toolcrib-gateway', sub: 'u', exp: seconds() + 600, jti })
      .setProtectedHeader({ alg: 'ES256', kid: 'first' })
      .sign(key);
  const first = await sign('first');
  await verifier.verify(first);
  let last = '';
  for (let batch = 0; batch < 40; batch += 1) {
    const tokens = await Promise.all(Array.from({ length: 500 }, (_, index) => sign(`${batch}-${index}`)));
    await Promise.all(tokens.map(async (token) => verifier.verify(token)));
    expect(verifier.cached).toBeLessThanOrEqual(10_000);
    last = tokens.at(-1) ?? '';
  }
  expect(verifier.verify(last)).not.toBeInstanceOf(Promise);
  expect(verifier.verify(first)).toBeInstanceOf(Promise);
  await verifier.verify(first);
});
