import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDevIssuer } from '../../src/identity/development/dev-issuer.ts';
import type { DevIssuer } from '../../src/identity/development/dev-issuer.ts';
import { createTokenVerifier } from '../../src/identity/verify-token.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { fetchDocument } from '../fixtures/loopback-egress.ts';
import { refusal } from '../fixtures/refusal.ts';

const issuer = 'http://127.0.0.1:7300/dev';
let directory: string;
let dev: DevIssuer;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'toolcrib-dev-issuer-'));
  dev = await createDevIssuer({ issuer, stateFile: join(directory, 'main', 'dev-issuer.json') });
});
afterAll(() => rmSync(directory, { recursive: true }));

/** With what the command line authenticates. */
const ownClient = () => ({
  client_id: 'toolcrib-cli',
  client_secret: readFileSync(join(directory, 'main', 'dev-secret'), 'utf8').trim(),
});

const trusting = ({ config, keySet }: DevIssuer, now?: () => number) =>
  createTokenVerifier({ fetchDocument, issuers: [{ ...config, keySet }], now });

test.each([
  ['alice', 'Alice Manager', ['/managers'], ['toolcrib-user'], 'operations'],
  ['bob', 'Bob Cook', ['/kitchen'], ['toolcrib-user'], 'kitchen'],
  ['admin', 'Ada Admin', ['/administrators'], ['toolcrib-user', 'toolcrib-admin', 'toolcrib-run'], 'platform'],
])('[ID-1] %s gets a token with the claims Keycloak would give', async (username, name, groups, roles, department) => {
  const response = await dev.token(new URLSearchParams({ grant_type: 'password', username, ...ownClient() }));
  expect(response).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'openid profile email' });
  expect(decodeProtectedHeader(response.access_token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
  const principal = await trusting(dev).verify(response.access_token);
  expect(principal).toMatchObject({ issuer, client: 'toolcrib-cli', subject: dev.users.find((user) => user.username === username)?.sub });
  expect(principal.claims).toMatchObject({
    iss: issuer,
    aud: 'toolcrib-gateway',
    azp: 'toolcrib-cli',
    typ: 'Bearer',
    preferred_username: username,
    name,
    email: `${username}@example.test`,
    realm_access: { roles },
    groups,
    department,
    jti: expect.any(String),
    iat: expect.any(Number),
  });
});

test('[ID-1] the published key verifies issued tokens, and is only the public half', async () => {
  const { keys } = dev.jwks();
  expect(keys).toHaveLength(1);
  expect(Object.keys(keys[0] ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  expect(dev.metadata()).toMatchObject({ issuer, jwks_uri: `${issuer}/jwks`, token_endpoint: `${issuer}/token` });
});

test('[ID-1] another server can trust the development issuer over HTTP by discovery', async () => {
  let served: DevIssuer | undefined;
  await using server = await startHttpServer((request, response) => {
    response.end(JSON.stringify(request.url === '/dev/jwks' ? served?.jwks() : served?.metadata()));
  });
  served = await createDevIssuer({ issuer: `${server.origin}/dev`, stateFile: join(directory, 'served.json') });
  const { jwks_uri: _known, ...config } = served.config;
  expect(await createTokenVerifier({ fetchDocument, issuers: [config] }).verify(await served.mint('alice'))).toMatchObject({
    issuer: served.config.issuer,
  });
});

test('[ID-1] tokens and the client secret survive a restart', async () => {
  const stateFile = join(directory, 'restart.json');
  const before = await createDevIssuer({ issuer, stateFile });
  const token = await before.mint('bob');
  const after = await createDevIssuer({ issuer, stateFile });
  expect(await trusting(after).verify(token)).toMatchObject({ issuer });
  expect(after.gatewayCredentials()).toEqual(before.gatewayCredentials());
});

test('[ID-1] every installation has its own key and its own secret', async () => {
  const other = await createDevIssuer({ issuer, stateFile: join(directory, 'other.json') });
  expect(other.gatewayCredentials().client_secret).not.toBe(dev.gatewayCredentials().client_secret);
  expect(other.gatewayCredentials().client_secret.length).toBeGreaterThanOrEqual(43);
  expect(await refusal(await other.mint('admin'), trusting(dev))).toMatchObject({ message: /not signed by a key of its issuer/ });
});

test.skipIf(process.platform === 'win32')(
  'the state is readable by its owner only, even after somebody widened its permissions',
  async () => {
    const stateFile = join(directory, 'mode.json');
    await createDevIssuer({ issuer, stateFile });
    expect(statSync(stateFile).mode & 0o777).toBe(0o600);
    chmodSync(stateFile, 0o644);
    await createDevIssuer({ issuer, stateFile });
    expect(statSync(stateFile).mode & 0o777).toBe(0o600);
  },
);

test('a damaged state is refused and left unchanged', async () => {
  const stateFile = join(directory, 'damaged.json');
  writeFileSync(stateFile, '{"kid": "x"}');
  await expect(createDevIssuer({ issuer, stateFile })).rejects.toMatchObject({ code: 'VALIDATION_ERROR', message: /delete it/ });
  expect(readFileSync(stateFile, 'utf8')).toBe('{"kid": "x"}');
});

test.each(['http://toolcrib.example.org/dev', 'https://0.0.0.0/dev', 'nonsense', 'http://localhost.example.org/dev'])(
  '[ID-1] the development issuer does not exist off loopback: %s',
  async (address) => {
    const stateFile = join(directory, 'never.json');
    await expect(createDevIssuer({ issuer: address, stateFile })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(statSync(stateFile, { throwIfNoEntry: false })).toBeUndefined();
  },
);

test('[ID-1] a token lasts as long as requested', async () => {
  let time = Date.now();
  const clocked = await createDevIssuer({ issuer, stateFile: join(directory, 'clocked.json'), now: () => time });
  const token = await clocked.mint('alice', { expiresInSeconds: 20 });
  const verifier = trusting(clocked, () => time);
  await verifier.verify(token);
  time += 26_000;
  expect(await refusal(token, verifier)).toMatchObject({ message: /has expired/ });
  for (const expiresInSeconds of [0, -1, 1.5, Number.NaN, Infinity, 1e12]) {
    await expect(clocked.mint('alice', { expiresInSeconds })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  }
  await expect(clocked.mint('mallory')).rejects.toMatchObject({ code: 'VALIDATION_ERROR', message: /alice, bob, admin/ });
});

test.each([
  ['no grant', {}, 'invalid_request'],
  ['an unknown grant', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
  ['a grant with the name of an object member', { grant_type: '__proto__' }, 'unsupported_grant_type'],
  ['no user', { grant_type: 'password' }, 'invalid_request'],
  ['an unknown user', { grant_type: 'password', username: 'mallory' }, 'invalid_grant'],
  ['a user with the name of an object member', { grant_type: 'password', username: 'constructor' }, 'invalid_grant'],
  ['a client that may not', { grant_type: 'password', username: 'alice', client_id: 'toolcrib-gateway' }, 'unauthorized_client'],
])('[ID-1] a token request with %s is refused', async (_name, params: Record<string, string>, error) => {
  const attempt = dev.token({ ...ownClient(), ...params });
  await expect(attempt).rejects.toMatchObject({ error, status: 400 });
  await expect(attempt.catch((reason: unknown) => JSON.parse(JSON.stringify(reason)))).resolves.toEqual({
    error,
    error_description: expect.any(String),
  });
});

test('[ID-1] a parameter that is sent twice is refused', async () => {
  const params = new URLSearchParams('grant_type=password&username=alice&username=admin');
  await expect(dev.token(params)).rejects.toMatchObject({ error: 'invalid_request', message: /username must be sent exactly once/ });
});
