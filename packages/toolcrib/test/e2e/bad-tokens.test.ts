import { createHmac } from 'node:crypto';
import { exportSPKI, importJWK } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reply } from '../fixtures/api-client.ts';
import { endlessAnswer } from '../fixtures/http-server.ts';
import { makeKey, startTokenIssuer } from '../fixtures/token-issuer.ts';
import { startServerWithIssuer, userClaims } from '../running-server.ts';

let parts: Awaited<ReturnType<typeof startServerWithIssuer>>;
/** An issuer whose keys are never to be had: its key set has no end. */
let brokenIssuer: Awaited<ReturnType<typeof startTokenIssuer>>;
const endless = endlessAnswer();

beforeAll(async () => {
  brokenIssuer = await startTokenIssuer();
  brokenIssuer.answers.jwks = endless.handle;
  parts = await startServerWithIssuer({ issuers: [brokenIssuer.config] });
});
afterAll(async () => {
  await parts[Symbol.asyncDispose]();
  await brokenIssuer[Symbol.asyncDispose]();
});

async function isServing(): Promise<boolean> {
  const user = await parts.signedIn(userClaims);
  return (await user.call('builtin:calculator', { expression: '6 * 7' })).json.result.result === 42;
}

/** The outcome of a request, and whether the server still works afterwards. */
async function outcome({ status, headers, json }: Reply) {
  return { status, code: json?.code, challenge: headers.get('www-authenticate'), serving: await isServing() };
}

const refused = { status: 401, code: 'UNAUTHENTICATED', challenge: 'Bearer', serving: true };

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** A token as a forger makes it: any header, any claims, any signature. */
async function forge(header: object, claims: object = {}, sign: (input: string) => string = () => 'AAAA'): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const { issuer } = parts.issuer;
  const all = { iss: issuer, aud: 'toolcrib-gateway', iat: now, exp: now + 300, ...userClaims, ...claims };
  const input = `${base64url(header)}.${base64url(all)}`;
  return `${input}.${sign(input)}`;
}

describe('[ID-1] an invalid token', () => {
  const hour = 3600;
  const now = () => Math.floor(Date.now() / 1000);
  const cases: Record<string, () => Promise<string> | string> = {
    'signed with another key under the same name': async () => parts.issuer.sign(userClaims, { key: await makeKey('first') }),
    'signed with a key nobody published': async () => parts.issuer.sign(userClaims, { key: await makeKey('unheard-of') }),
    'with a signature of nothing': async () => `${(await parts.issuer.sign(userClaims)).split('.').slice(0, 2).join('.')}.`,
    'changed after it was signed': async () => {
      const [head, , signature] = (await parts.issuer.sign(userClaims)).split('.');
      const [, claims] = (await forge({}, { sub: 'somebody-else' })).split('.');
      return `${head}.${claims}.${signature}`;
    },
    'without a signature algorithm': () => forge({ alg: 'none', kid: 'first', typ: 'at+jwt' }, {}, () => ''),
    'without a signature algorithm, in capitals': () => forge({ alg: 'NONE', kid: 'first', typ: 'at+jwt' }, {}, () => ''),
    'signed with the public key as if it were a password': async () => {
      const { firstKey } = parts.issuer;
      const spki = await exportSPKI((await importJWK({ ...firstKey.publicJwk, ext: true }, firstKey.alg)) as never);
      return forge({ alg: 'HS256', kid: 'first', typ: 'at+jwt' }, {}, (input) =>
        createHmac('sha256', spki).update(input).digest('base64url'),
      );
    },
    'with a key of its own in the header': async () => {
      const own = await makeKey('first');
      return parts.issuer.sign(userClaims, { key: own, header: { jwk: own.publicJwk } });
    },
    expired: () => parts.issuer.sign({ ...userClaims, exp: now() - 60 }),
    'without an end': () => parts.issuer.sign({ ...userClaims, exp: undefined }),
    'not valid yet': () => parts.issuer.sign({ ...userClaims, nbf: now() + hour }),
    'meant for another service': () => parts.issuer.sign({ ...userClaims, aud: 'pizzeria-api' }),
    'meant for nobody': () => parts.issuer.sign({ ...userClaims, aud: undefined }),
    'of an issuer nobody knows': () => parts.issuer.sign({ ...userClaims, iss: 'https://evil.test' }),
    'of nobody': () => parts.issuer.sign({ ...userClaims, sub: undefined }),
    'with a list for a subject': () => parts.issuer.sign({ ...userClaims, sub: ['user-1'] }),
    'that is no token': () => 'hello',
    'that is half a token': () => 'a.b',
  };

  test.for(Object.keys(cases))('is refused: %s', async (title) => {
    const token = (await cases[title]?.()) ?? '';
    expect(await outcome(await parts.server.client(token).get('/api/bff/tools'))).toEqual(refused);
    const called = await parts.server.client(token).call('builtin:uuid');
    expect(called.status).toBe(401);
  });
});

describe('[ID-1] a valid token', () => {
  test.for<[title: string, headers: (token: string) => Record<string, string>]>([
    ['in another scheme', (token) => ({ authorization: `Basic ${token}` })],
    ['without a scheme', (token) => ({ authorization: token })],
    ['with something behind it', (token) => ({ authorization: `Bearer ${token} ${token}` })],
    ['in a cookie', (token) => ({ cookie: `access_token=${token}; Authorization=Bearer ${token}` })],
    ['in a header of its own', (token) => ({ 'x-access-token': token, 'x-forwarded-authorization': `Bearer ${token}` })],
    ['nowhere', () => ({})],
    ['with an empty header', () => ({ authorization: '' })],
  ])('is refused when it is sent %s', async ([, headers]) => {
    const token = await parts.issuer.sign(userClaims);
    expect(await outcome(await parts.server.client().get('/api/bff/tools', headers(token)))).toEqual(refused);
  });

  test('is refused when it is sent in the query', async () => {
    const token = await parts.issuer.sign(userClaims);
    expect(await outcome(await parts.server.client().get(`/api/bff/tools?access_token=${token}`))).toEqual(refused);
    expect(await outcome(await parts.server.client().get(`/api/bff/sse?token=${token}`))).toEqual(refused);
  });

  test('is accepted with the scheme in any case', async () => {
    const token = await parts.issuer.sign(userClaims);
    expect((await parts.server.client().get('/api/bff/tools', { authorization: `bearer ${token}` })).status).toBe(200);
  });
});

test('[ID-1] [ID-5] an issuer with an endless key set is cut off, counts as an error of the operator, and hurts nobody else', async () => {
  const reply = await parts.server.client(await brokenIssuer.sign(userClaims)).get('/api/bff/tools');
  expect(reply).toMatchObject({ status: 503, json: { code: 'SERVICE_UNAVAILABLE' } });
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
  // One megabyte is the limit; what was on its way when it was reached is not counted exactly.
  expect(await endless.sentBytes).toBeLessThan(20_000_000);
  expect(await isServing()).toBe(true);
});

test('a token expires at its time, even for a known caller', async () => {
  const seconds = Math.floor(Date.now() / 1000);
  // Accepted for five more seconds, because clocks differ.
  const short = parts.server.client(await parts.issuer.sign({ ...userClaims, exp: seconds - 3 }));
  const statuses = new Set<number>();
  while (!statuses.has(401)) statuses.add((await short.get('/api/bff/tools?limit=1')).status);
  expect([...statuses]).toEqual([200, 401]);
});
