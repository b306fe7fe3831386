import { createPublicKey } from 'node:crypto';
import { CompactSign, SignJWT, UnsecuredJWT } from 'jose';
import type { JWTPayload } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTokenVerifier } from '../../src/identity/verify-token.ts';
import type { TokenVerifier } from '../../src/identity/verify-token.ts';
import { refusal as refusalBy } from '../fixtures/refusal.ts';
import { fetchDocument } from '../fixtures/loopback-egress.ts';
import { makeKey, startTokenIssuer } from '../fixtures/token-issuer.ts';

let idp: Awaited<ReturnType<typeof startTokenIssuer>>;
beforeAll(async () => {
  idp = await startTokenIssuer();
});
afterAll(() => idp[Symbol.asyncDispose]());

const seconds = () => Math.floor(Date.now() / 1000);
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

const refusal = (token: string, verifier: TokenVerifier = createTokenVerifier({ fetchDocument, issuers: [idp.config] })) =>
  refusalBy(token, verifier);

const badClaims: [string, JWTPayload, RegExp][] = [
  ['an expired token', { exp: seconds() - 60 }, /has expired: get a new one/],
  ['a token that is not valid yet', { nbf: seconds() + 3600 }, /not valid yet/],
  ['a token for another audience', { aud: 'somebody-else' }, /its audience must be toolcrib-gateway/],
  ['a token for an audience that only begins like ours', { aud: 'toolcrib-gateway2' }, /audience/],
  ['a token without an audience', { aud: undefined }, /audience/],
  ['a token without an expiry', { exp: undefined }, /no usable exp claim/],
  ['a token without a subject', { sub: undefined }, /no usable sub claim/],
  ['a token with an empty subject', { sub: '' }, /no usable sub claim/],
  ['a token with an endless subject', { sub: 'x'.repeat(1025) }, /no usable sub claim/],
  ['a token from another issuer', { iss: 'https://elsewhere.example' }, /unknown issuer/],
  ['a token without an issuer', { iss: undefined }, /unknown issuer/],
];
test.each(badClaims)('[ID-1] %s is refused', async (_name, claims, message) => {
  expect(await refusal(await idp.sign(claims))).toMatchObject({ code: 'UNAUTHENTICATED', message: expect.stringMatching(message) });
});

test.each([
  ['a subject that is a number', { sub: 7 }],
  ['an expiry that is a text', { exp: '2100-01-01' }],
  ['an issuer in a list', { iss: ['https://elsewhere.example'] }],
  ['a not-before that is a text', { nbf: '0' }],
])('[ID-1] a token with %s is refused', async (_name, claims) => {
  const token = await idp.sign(claims);
  expect(await refusal(token)).toMatchObject({ code: 'UNAUTHENTICATED' });
});

test('[ID-1] an issuer that differs by a slash or by case is unknown', async () => {
  expect(await refusal(await idp.sign({ iss: `${idp.issuer}/` }))).toMatchObject({ message: /unknown issuer/ });
  expect(await refusal(await idp.sign({ iss: idp.issuer.toUpperCase() }))).toMatchObject({ message: /unknown issuer/ });
});

test('[ID-1] a forged payload under a real signature is refused', async () => {
  const [header, , signature] = (await idp.sign()).split('.');
  const payload = base64url({ iss: idp.issuer, aud: 'toolcrib-gateway', sub: 'admin', exp: seconds() + 300 });
  expect(await refusal(`${header}.${payload}.${signature}`)).toMatchObject({
    code: 'UNAUTHENTICATED',
    message: /not signed by a key of its issuer/,
  });
});

test('[ID-1] a signature by a key that only has the right name is refused', async () => {
  const impostor = await makeKey('first');
  expect(await refusal(await idp.sign({}, { key: impostor }))).toMatchObject({ message: /not signed by a key of its issuer/ });
});

test('[ID-1] a signature by the key of another trusted issuer is refused', async () => {
  await using second = await startTokenIssuer();
  const verifier = createTokenVerifier({ fetchDocument, issuers: [idp.config, second.config] });
  expect(await refusal(await second.sign({ iss: idp.issuer }), verifier)).toMatchObject({ message: /not signed by a key of its issuer/ });
});

test('[ID-1] a token without a signature is refused', async () => {
  const token = new UnsecuredJWT({ aud: 'toolcrib-gateway', sub: 'admin' }).setIssuer(idp.issuer).setExpirationTime('1h').encode();
  expect(await refusal(token)).toMatchObject({ code: 'UNAUTHENTICATED' });
  const [, payload, signature] = (await idp.sign()).split('.');
  for (const alg of ['none', 'None', 'NONE', '']) {
    const error = await refusal(`${base64url({ alg, kid: 'first' })}.${payload}.${signature}`);
    expect(error).toMatchObject({ code: 'UNAUTHENTICATED' });
  }
});

test('[ID-1] HS256 with the bytes of the public key as its secret is refused', async () => {
  const publicKey = createPublicKey({ key: idp.firstKey.publicJwk, format: 'jwk' });
  const secrets = [
    publicKey.export({ format: 'pem', type: 'spki' }),
    publicKey.export({ format: 'der', type: 'spki' }),
    JSON.stringify(idp.firstKey.publicJwk),
  ];
  for (const secret of secrets) {
    const token = await new SignJWT({ iss: idp.issuer, aud: 'toolcrib-gateway', sub: 'admin', exp: seconds() + 300 })
      .setProtectedHeader({ alg: 'HS256', kid: 'first' })
      .sign(Buffer.from(secret));
    expect(await refusal(token)).toMatchObject({ code: 'UNAUTHENTICATED', message: /unsupported algorithm/ });
  }
});

test('[ID-1] HS256 with a symmetric key that the issuer itself publishes is refused', async () => {
  await using other = await startTokenIssuer();
  const secret = Buffer.alloc(32, 7);
  other.published.push({ kty: 'oct', k: secret.toString('base64url'), kid: 'shared', alg: 'HS256' });
  const token = await new SignJWT({ iss: other.issuer, aud: 'toolcrib-gateway', sub: 'admin', exp: seconds() + 300 })
    .setProtectedHeader({ alg: 'HS256', kid: 'shared' })
    .sign(secret);
  expect(await refusal(token, createTokenVerifier({ fetchDocument, issuers: [other.config] }))).toMatchObject({
    message: /unsupported algorithm/,
  });
});

test('[ID-1] a key in the header of a token, or the address of one, is never used', async () => {
  await using attacker = await startTokenIssuer();
  const jwk = attacker.firstKey.publicJwk;
  for (const header of [{ jwk }, { jku: `${attacker.issuer}/keys` }, { x5u: `${attacker.issuer}/keys` }]) {
    for (const kid of ['first', 'unknown', undefined]) {
      const token = await idp.sign({}, { key: attacker.firstKey, header: { ...header, kid } });
      expect(await refusal(token)).toMatchObject({ code: 'UNAUTHENTICATED', message: /not signed by a key of its issuer/ });
    }
  }
  expect(attacker.fetches).toEqual({ discovery: 0, jwks: 0, token: 0 });
});

test('[ID-1] an algorithm outside the list of its issuer costs no request', async () => {
  await using other = await startTokenIssuer();
  const verifier = createTokenVerifier({ fetchDocument, issuers: [{ ...other.config, algorithms: ['RS256'] }] });
  expect(await refusal(await other.sign(), verifier)).toMatchObject({ message: /unsupported algorithm/ });
  expect(other.fetches).toEqual({ discovery: 0, jwks: 0, token: 0 });
});

test('[ID-1] another kind of token is refused if the issuer is limited to one kind', async () => {
  const verifier = createTokenVerifier({ fetchDocument, issuers: [{ ...idp.config, token_type: 'at+jwt' }] });
  expect(await verifier.verify(await idp.sign())).toMatchObject({ subject: 'user-1' });
  for (const typ of ['JWT', undefined]) {
    expect(await refusal(await idp.sign({}, { header: { typ } }), verifier)).toMatchObject({
      message: /its header must have the typ at\+jwt/,
    });
  }
});

test.each<[what: string, claims: Record<string, unknown>, header: { typ?: string }]>([
  ['as Keycloak marks it', { typ: 'ID', azp: 'toolcrib-cli' }, { typ: 'JWT' }],
  ['as Keycloak marks it, under a header of access tokens', { typ: 'ID' }, { typ: 'at+jwt' }],
  ['as Cognito marks it', { token_use: 'id' }, { typ: undefined }],
  ['with a nonce', { nonce: 'n' }, { typ: 'JWT' }],
  ['with the hash of an access token', { at_hash: 'h' }, { typ: undefined }],
  ['with the hash of a code', { c_hash: 'h' }, { typ: 'application/JWT' }],
])('[ID-1] an ID token %s is refused by default', async (_what, claims, header) => {
  expect(await refusal(await idp.sign(claims, { header }))).toMatchObject({ code: 'UNAUTHENTICATED', message: /This is an ID token/ });
});

test('[ID-1] other tokens that an issuer signs are refused too', async () => {
  expect(await refusal(await idp.sign({ typ: 'Refresh' }))).toMatchObject({ message: /This is a refresh token/ });
  for (const typ of ['logout+jwt', 'dpop+jwt', 'secevent+jwt'])
    expect(await refusal(await idp.sign({}, { header: { typ } }))).toMatchObject({ message: /the operator sets token_type/ });
  const verifier = createTokenVerifier({ fetchDocument, issuers: [{ ...idp.config, token_type: 'acme+jwt' }] });
  expect(await verifier.verify(await idp.sign({}, { header: { typ: 'acme+jwt' } }))).toMatchObject({ subject: 'user-1' });
});

test.each<[claims: Record<string, unknown>, header: { typ?: string }]>([
  [{}, { typ: 'JWT' }],
  [{}, { typ: undefined }],
  // Keycloak before 25 copied the nonce into access tokens.
  [{ typ: 'Bearer', nonce: 'n' }, { typ: 'JWT' }],
  [{ nonce: 'n' }, { typ: 'at+jwt' }],
  [{ token_use: 'access' }, { typ: 'application/at+jwt' }],
])('[ID-1] an access token with %j under %j is accepted', async (claims, header) => {
  const verifier = createTokenVerifier({ fetchDocument, issuers: [idp.config] });
  expect(await verifier.verify(await idp.sign(claims, { header }))).toMatchObject({ subject: 'user-1' });
});

test.each(['', 'x', 'a.b.c', '..', 'eyJhbGciOiJFUzI1NiJ9..', `${base64url({ alg: 'ES256' })}.${base64url([])}.x`, 'é.ü.ß', 'a.b.c.d.e'])(
  '[ID-1] text that is not a token is refused: %j',
  async (token) => {
    expect(await refusal(token)).toMatchObject({ code: 'UNAUTHENTICATED', message: /This is not a token/ });
  },
);

test('[ID-1] a token that is too long is refused', async () => {
  expect(await refusal(await idp.sign({ padding: 'x'.repeat(16_384) }))).toMatchObject({
    code: 'UNAUTHENTICATED',
    message: /longer than/,
  });
});

test('claims nested so deeply that reading them would end the process are refused', async () => {
  const depth = 5000;
  const nested = `{"iss":${JSON.stringify(idp.issuer)},"aud":"toolcrib-gateway","sub":"u","exp":${seconds() + 60},"deep":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  expect(await refusal(await signRaw(nested))).toMatchObject({ code: 'UNAUTHENTICATED', message: /nested deeper/ });
});

test('claims that would reach a prototype are refused', async () => {
  const claims = `{"iss":${JSON.stringify(idp.issuer)},"aud":"toolcrib-gateway","sub":"u","exp":${seconds() + 60},"a":[{"__proto__":{"admin":true}}]}`;
  expect(await refusal(await signRaw(claims))).toMatchObject({ code: 'UNAUTHENTICATED', message: /forbidden name/ });
});

/** Signs a payload that no library would write. */
function signRaw(payload: string): Promise<string> {
  return new CompactSign(Buffer.from(payload)).setProtectedHeader({ alg: 'ES256', kid: 'first' }).sign(idp.firstKey.privateKey);
}

test('an issuer that is configured twice, or with a forbidden algorithm, is refused at once', () => {
  expect(() => createTokenVerifier({ fetchDocument, issuers: [idp.config, idp.config] })).toThrow(/configured twice/);
  // As a configuration that never met the schema would bring it.
  for (const text of ['["HS256"]', '["none"]', '[]', '["ES256", "HS256"]']) {
    const algorithms = JSON.parse(`{ "algorithms": ${text} }`);
    expect(() => createTokenVerifier({ fetchDocument, issuers: [{ ...idp.config, ...algorithms }] })).toThrow(/must be among/);
  }
});
