import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDevIssuer } from '../../src/identity/development/dev-issuer.ts';
import type { DevIssuer } from '../../src/identity/development/dev-issuer.ts';
import { createTokenVerifier } from '../../src/identity/verify-token.ts';
import { fetchDocument } from '../fixtures/loopback-egress.ts';

const accessToken = 'urn:ietf:params:oauth:token-type:access_token';
const issuer = 'http://127.0.0.1:7300/dev';
let time = Date.now();
let directory: string;
let dev: DevIssuer;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'toolcrib-exchange-'));
  dev = await createDevIssuer({ issuer, stateFile: join(directory, 'state.json'), now: () => time });
});
afterAll(() => rmSync(directory, { recursive: true }));

const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`;
const gateway = () => basic('toolcrib-gateway', dev.gatewayCredentials().client_secret);

/** A good exchange for alice at the pizzeria, apart from what is given; what is given as empty is left out. */
async function exchangeParams(change: Record<string, string> = {}): Promise<URLSearchParams> {
  return new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: change.subject_token ?? (await dev.mint('alice')),
    subject_token_type: accessToken,
    requested_token_type: accessToken,
    audience: 'pizzeria-api',
    ...change,
  });
}

function verifierFor(audience: string) {
  return createTokenVerifier({ fetchDocument, issuers: [{ ...dev.config, audience, keySet: dev.keySet }], now: () => time });
}

test('[ID-1] an exchanged token is for one upstream, about the same user, and says who acts', async () => {
  const response = await dev.token(await exchangeParams(), gateway());
  expect(response).toMatchObject({ token_type: 'Bearer', expires_in: 120, issued_token_type: accessToken });
  const { claims } = await verifierFor('pizzeria-api').verify(response.access_token);
  expect(claims).toMatchObject({
    iss: issuer,
    aud: 'pizzeria-api',
    azp: 'toolcrib-gateway',
    sub: dev.users[0]?.sub,
    preferred_username: 'alice',
    department: 'operations',
    resource_access: { 'pizzeria-api': { roles: ['orders:read', 'orders:write'] } },
    act: { sub: 'toolcrib-gateway' },
  });
  for (const kept of ['realm_access', 'groups', 'email', 'name']) expect(claims).not.toHaveProperty(kept);
});

test.each([
  ['alice', 'pizzeria-api'],
  ['alice', 'inventory-api'],
  ['bob', 'pizzeria-api'],
])('[ID-1] %s may be exchanged to %s', async (username, audience) => {
  const response = await dev.token(await exchangeParams({ subject_token: await dev.mint(username), audience }), gateway());
  expect(await verifierFor(audience).verify(response.access_token)).toMatchObject({
    claims: { aud: audience, preferred_username: username },
  });
});

test.each([
  ['bob', 'inventory-api', /not available: inventory-api/],
  ['admin', 'pizzeria-api', /not available: pizzeria-api/],
  ['alice', 'unknown-api', /not found/],
  ['alice', 'toolcrib-gateway', /not found/],
  ['alice', '__proto__', /not found/],
  ['alice', 'pizzeria-api inventory-api', /not found/],
])('[ID-1] %s may not be exchanged to %s', async (username, audience, message) => {
  const attempt = dev.token(await exchangeParams({ subject_token: await dev.mint(username), audience }), gateway());
  await expect(attempt).rejects.toMatchObject({ error: 'invalid_target', status: 400, message: expect.stringMatching(message) });
});

test('[ID-1] an exchange names exactly one audience', async () => {
  await expect(dev.token(await exchangeParams({ audience: '' }), gateway())).rejects.toMatchObject({ error: 'invalid_request' });
  const two = await exchangeParams();
  two.append('audience', 'inventory-api');
  await expect(dev.token(two, gateway())).rejects.toMatchObject({
    error: 'invalid_request',
    message: /audience must be sent exactly once/,
  });
  await expect(dev.token(await exchangeParams({ resource: 'https://x.example' }), gateway())).rejects.toMatchObject({
    error: 'invalid_target',
  });
});

test('[ID-1] an exchanged token cannot be exchanged again', async () => {
  const { access_token: exchanged } = await dev.token(await exchangeParams(), gateway());
  const again = dev.token(await exchangeParams({ subject_token: exchanged }), gateway());
  await expect(again).rejects.toMatchObject({ error: 'invalid_request', message: /audience/ });
});

test('[ID-1] an exchanged token never outlives the token it was made from', async () => {
  const subject = await dev.mint('alice', { expiresInSeconds: 30 });
  const { access_token: exchanged, expires_in: expiresIn } = await dev.token(await exchangeParams({ subject_token: subject }), gateway());
  expect(expiresIn).toBe(30);
  const { expiresAt: end } = await verifierFor('pizzeria-api').verify(exchanged);
  const { expiresAt: subjectEnd } = await verifierFor('toolcrib-gateway').verify(subject);
  expect(end).toBe(subjectEnd);
  // Within the tolerance for clocks the subject still verifies, but nothing may be made from it.
  for (const later of [30_000, 3_000, 60_000]) {
    time += later;
    const late = dev.token(await exchangeParams({ subject_token: subject }), gateway());
    await expect(late).rejects.toMatchObject({ error: 'invalid_request', message: /expired/ });
  }
});

test.each([
  ['no subject token', { subject_token: '' }],
  ['a subject token that is none', { subject_token: 'x' }],
  ['another kind of subject token', { subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' }],
  ['another kind of result', { requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' }],
  ['an actor token', { actor_token: 'x' }],
])('[ID-1] an exchange with %s is refused', async (_name, change) => {
  await expect(dev.token(await exchangeParams(change), gateway())).rejects.toMatchObject({ error: 'invalid_request', status: 400 });
});

test('[ID-1] the client may authenticate in the body, but not in both ways', async () => {
  const inBody = await exchangeParams(dev.gatewayCredentials());
  expect(await dev.token(inBody)).toMatchObject({ token_type: 'Bearer' });
  expect(await dev.token(Object.fromEntries(inBody))).toMatchObject({ token_type: 'Bearer' });
  await expect(dev.token(inBody, gateway())).rejects.toMatchObject({ error: 'invalid_request' });
});

test.each([
  ['nothing', () => undefined],
  ['an empty header', () => ''],
  ['another scheme', () => `Bearer ${dev.gatewayCredentials().client_secret}`],
  ['a wrong secret', () => basic('toolcrib-gateway', 'dev-gateway-secret')],
  ['an empty secret', () => basic('toolcrib-gateway', '')],
  ['the secret under another name', () => basic('toolcrib-cli', dev.gatewayCredentials().client_secret)],
  ['no colon', () => `Basic ${Buffer.from('toolcrib-gateway').toString('base64')}`],
  ['a broken encoding', () => `Basic ${Buffer.from('toolcrib-gateway:%zz').toString('base64')}`],
])('[ID-1] the gateway is not recognised by %s', async (_name, header) => {
  await expect(dev.token(await exchangeParams(), header())).rejects.toMatchObject({ error: 'invalid_client', status: 401 });
});
