import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTokenExchange } from '../../src/identity/token-exchange.ts';
import { createTrustedIssuers } from '../../src/identity/trusted-issuers.ts';
import { createTokenVerifier } from '../../src/identity/verify-token.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { gatewaySecret, openRealm, type KeycloakRealm } from '../fixtures/keycloak-realm.ts';
import { fetchDocument, loopbackEgress } from '../fixtures/loopback-egress.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { startRecordingUpstream, type RecordingUpstream } from '../fixtures/recording-upstream.ts';
import { part } from '../parts.ts';
import { startTestServer, type TestServer } from '../running-server.ts';

const keycloak = part('keycloak');
const gateway = { client_id: 'toolcrib-gateway', client_secret: gatewaySecret };

describe.skipIf(!keycloak.available)('with Keycloak', () => {
  let realm: KeycloakRealm;
  let upstream: RecordingUpstream;
  let server: TestServer;
  let admin: ApiClient;

  const as = async (username: string) => server.client((await realm.signIn(username)).access_token);
  const register = async (name: string, credential: object) => {
    const discovery = { type: 'client_credentials', token_url: `${realm.issuer}/protocol/openid-connect/token`, ...gateway };
    const body = { name, mcp_server_url: upstream.url, credential, discovery_credential: discovery };
    const { json } = await admin.post('/api/sources?wait=20000', body);
    expect(json).toMatchObject({ status: { state: 'running' } });
  };
  const exchangeFor = (audience: string) => ({ type: 'token_exchange', audience, ...gateway });

  beforeAll(async () => {
    realm = openRealm(keycloak.available ? keycloak.url : '');
    upstream = await startRecordingUpstream();
    server = await startTestServer({ issuers: [realm.config], allowedNetworks: ['loopback'] });
    admin = await as('admin');
    await grantEverything(admin);
    await register('pizzeria', exchangeFor('pizzeria-api'));
    await register('inventory', exchangeFor('inventory-api'));
  });
  beforeEach(() => void upstream.requests.splice(0));
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await upstream?.[Symbol.asyncDispose]();
  });

  test('[ID-3] the upstream gets a token for itself, about the caller, with the caller’s rights there and no others', async () => {
    const keys = createRemoteJWKSet(new URL(`${realm.issuer}/protocol/openid-connect/certs`));
    for (const username of ['alice', 'bob']) {
      const caller = await as(username);
      upstream.requests.splice(0);
      expect((await caller.call('pizzeria:whoami')).json).toMatchObject({ success: true });
      const sent = upstream.calls()[0]?.headers.authorization?.replace('Bearer ', '') ?? '';
      const { payload } = await jwtVerify(sent, keys, { issuer: realm.issuer, audience: 'pizzeria-api', typ: 'at+jwt' });
      expect(payload).toMatchObject({ aud: 'pizzeria-api', azp: 'toolcrib-gateway', sub: decodeJwt(caller.token ?? '').sub });
      expect(Object.keys(payload.resource_access as object)).toEqual(['pizzeria-api']);
      expect(payload).not.toHaveProperty('realm_access');
      expect(payload).not.toHaveProperty('groups');
    }
  });

  test('[ID-4] the caller’s own token never reaches the upstream', async () => {
    const alice = await as('alice');
    for (const tool of ['pizzeria:whoami', 'pizzeria:leak', 'inventory:whoami']) await alice.call(tool);
    expect(upstream.calls()).toHaveLength(3);
    const [, body = '', signature = ''] = (alice.token ?? '').split('.');
    for (const bytes of [body, signature]) expect(upstream.everything()).not.toContain(bytes);
  });

  test('[INV-6] tools are discovered with the service account, which may do nothing else', async () => {
    await register('found', exchangeFor('pizzeria-api'));
    const tokens = new Set(upstream.requests.map(({ headers }) => headers.authorization?.replace('Bearer ', '') ?? ''));
    expect([...tokens].map((token) => decodeJwt(token))).toEqual([
      expect.objectContaining({
        preferred_username: 'service-account-toolcrib-gateway',
        resource_access: { 'pizzeria-api': { roles: ['tools:list'] }, 'inventory-api': { roles: ['tools:list'] } },
      }),
    ]);
    expect(upstream.calls()).toEqual([]);
  });

  test('[ID-5] a user without a role at the upstream is refused, and the upstream never hears of it', async () => {
    const [alice, bob] = await Promise.all([as('alice'), as('bob')]);
    expect((await bob.call('inventory:whoami')).json).toMatchObject({
      error: { code: 'FORBIDDEN', message: expect.stringContaining('inventory-api'), retryable: false },
    });
    expect(upstream.requests).toEqual([]);
    expect((await alice.call('inventory:whoami')).json).toMatchObject({ success: true });
  });

  test.each([
    ['a wrong client secret', { ...exchangeFor('pizzeria-api'), client_secret: 'another-secret' }, /toolcrib-gateway.* secret/],
    ['an audience that does not exist', exchangeFor('nowhere-api'), /no such audience/],
    [
      'a client that may not exchange',
      { ...exchangeFor('pizzeria-api'), client_id: 'inventory-api' },
      /the client inventory-api may not exchange/,
    ],
  ])('[ID-5] %s is an error of the operator, and the message says what to check', async (name, credential, words) => {
    const namespace = name.replaceAll(' ', '-');
    await register(namespace, credential);
    upstream.requests.splice(0);
    const { json } = await (await as('alice')).call(`${namespace}:whoami`);
    expect(json.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.stringMatching(words) });
    expect(json.error.message).not.toContain('another-secret');
    expect(upstream.requests).toEqual([]);
  });

  test('[ID-5] no token is exchanged after a logout', async () => {
    const { access_token: token, refresh_token: refreshToken } = await realm.signIn('alice');
    const alice = server.client(token);
    expect((await alice.call('pizzeria:whoami')).json).toMatchObject({ success: true });
    await realm.signOut(refreshToken);
    expect((await alice.call('inventory:whoami')).json).toMatchObject({
      error: { code: 'UNAUTHENTICATED', message: expect.stringContaining('sign in again') },
    });
    // The token that was exchanged before is still used; the next test says until when.
    expect((await alice.call('pizzeria:whoami')).json).toMatchObject({ success: true });
  });

  test('[ID-3] an exchanged token is used until 30 seconds before it expires, and no longer after a logout', async () => {
    let now = Date.now();
    const given = { issuers: [realm.config], fetchDocument, now: () => now };
    const issuers = createTrustedIssuers(given);
    const exchange = createTokenExchange({ egress: loopbackEgress, issuerOf: (name) => issuers.get(name), now: () => now });
    try {
      const { access_token: token, refresh_token: refreshToken } = await realm.signIn('alice');
      const principal = await createTokenVerifier(given).verify(token);
      const terms = { audience: 'pizzeria-api', clientId: 'toolcrib-gateway', clientSecret: gatewaySecret };
      const tokens = exchange.tokensFor(principal, terms);
      const first = await tokens.get();
      const { exp = 0 } = decodeJwt(first);
      // Long before the caller's own token ends.
      expect(principal.expiresAt / 1000 - exp).toBeGreaterThan(100);
      await realm.signOut(refreshToken);
      now = (exp - 31) * 1000;
      expect(await tokens.get()).toBe(first);
      now = (exp - 30) * 1000;
      await expect(tokens.get()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    } finally {
      await exchange.close();
    }
  });
});
