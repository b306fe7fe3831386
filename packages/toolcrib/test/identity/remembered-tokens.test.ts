import { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKeySet } from '../../src/identity/jwks.ts';
import type { KeySet } from '../../src/identity/jwks.ts';
import { createTokenVerifier } from '../../src/identity/verify-token.ts';
import type { Principal } from '../../src/model/principal.ts';
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

test('[ID-1] a token that ends like a remembered one and says something else is refused', async () => {
  const { issuers } = counted();
  const verifier = createTokenVerifier({ fetchDocument, issuers });
  const token = await idp.sign();
  const principal = await verifier.verify(token);
  const [header, , signature] = token.split('.');
  const claims = Buffer.from(JSON.stringify({ ...principal.claims, sub: 'somebody-else' })).toString('base64url');
  expect(await refusal(`${header}.${claims}.${signature}`, verifier)).toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(verifier.verify(token)).toBe(principal);
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

test('[LOGIN-2] a token that is remembered for one resource opens nothing else, also when only its digest is remembered', async () => {
  const { count, issuers } = counted();
  // Enough for the claims of two tokens and the digests of a dozen.
  const verifier = createTokenVerifier({ fetchDocument, issuers, maxBytes: 8000 });
  const [mine, other] = ['https://crib.example.org/mcp', 'https://crib.example.org/mcp/other'];
  const token = await idp.sign({ aud: mine, jti: 'x' });
  const refused = async (resource?: string) =>
    Promise.resolve()
      .then(() => verifier.verify(token, resource))
      .then(
        () => 'accepted',
        (error: { message: string }) => error.message,
      );
  const sees = async () => ({ elsewhere: await refused(other), rest: await refused(), withSlash: await refused(`${mine}/`) });
  const nowhere = {
    elsewhere: `The token is not meant for this server: its audience must be toolcrib-gateway or ${other}`,
    rest: 'The token is not meant for this server: its audience must be toolcrib-gateway',
    withSlash: `The token is not meant for this server: its audience must be toolcrib-gateway or ${mine}/`,
  };
  const principal = await verifier.verify(token, mine);
  expect(await sees()).toEqual(nowhere);
  expect(verifier.verify(token, mine)).toBe(principal);

  for (const jti of ['a', 'b', 'c']) await verifier.verify(await idp.sign({ jti }));
  const before = count.lookups;
  const recalled = verifier.verify(token, mine);
  expect(recalled).not.toBeInstanceOf(Promise);
  // Its claims were read anew, and its signature was not checked again.
  expect([recalled === principal, count.lookups]).toEqual([false, before]);
  for (const jti of ['d', 'e', 'f']) await verifier.verify(await idp.sign({ jti }));
  expect(await sees()).toEqual(nowhere);
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

const sign = (jti: string, exp = seconds() + 600) =>
  new SignJWT({ iss: idp.issuer, aud: 'toolcrib-gateway', sub: 'u', exp, jti, realm_access: { roles: ['x'] } })
    .setProtectedHeader({ alg: 'ES256', kid: 'first' })
    .sign(KeyObject.from(idp.firstKey.privateKey));

test('[ID-1] memory stays bounded, and the latest tokens are remembered', async () => {
  const { count, issuers } = counted();
  const verifier = createTokenVerifier({ fetchDocument, issuers, maxBytes: 200_000 });
  const first = await sign('first');
  await verifier.verify(first);
  let last = '';
  for (let index = 0; index < 600; index++) {
    last = await sign(String(index));
    await verifier.verify(last);
    expect(verifier.cached).toBeLessThanOrEqual(110);
    expect(verifier.known).toBeLessThanOrEqual(334);
  }
  expect(verifier.verify(last)).not.toBeInstanceOf(Promise);
  expect(count.lookups).toBe(601);
  expect(verifier.verify(first)).toBeInstanceOf(Promise);
  await verifier.verify(first);
  expect(count.lookups).toBe(602);
});

test('[ID-1] more users than claims are kept of come in turn, and none is verified again', async () => {
  const { count, issuers } = counted();
  const verifier = createTokenVerifier({ fetchDocument, issuers, maxBytes: 200_000 });
  const tokens = await Promise.all(Array.from({ length: 160 }, (_, index) => sign(String(index))));
  const principals: Principal[] = [];
  for (const token of tokens) principals.push(await verifier.verify(token));
  expect(verifier.cached).toBeLessThan(tokens.length);
  for (let round = 0; round < 3; round++)
    for (const [index, token] of tokens.entries()) {
      const again = verifier.verify(token);
      expect(again).not.toBeInstanceOf(Promise);
      expect(again).toEqual(principals[index]);
    }
  expect(count.lookups).toBe(tokens.length);
});

test('[ID-1] a token whose claims were forgotten is verified again after a minute too, and refused once it has expired', async () => {
  let time = Date.now();
  const { count, issuers } = counted();
  const verifier = createTokenVerifier({ fetchDocument, issuers, maxBytes: 100_000, now: () => time });
  const token = await sign('first', seconds() + 90);
  await verifier.verify(token);
  for (let index = 0; index < 120; index++) await verifier.verify(await sign(String(index)));
  expect(verifier.verify(token)).not.toBeInstanceOf(Promise);
  for (let index = 0; index < 50; index++) await verifier.verify(await sign(String(index)));
  const before = count.lookups;
  time += 60_000;
  await verifier.verify(token);
  expect(count.lookups).toBeGreaterThan(before);
  time += 60_000;
  expect(await refusal(token, verifier)).toMatchObject({ message: /has expired/ });
});
