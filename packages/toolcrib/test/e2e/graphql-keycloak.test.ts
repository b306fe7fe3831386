import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startGraphqlService, type GraphqlService } from '../fixtures/graphql-service.ts';
import { gatewaySecret, openRealm, type KeycloakRealm } from '../fixtures/keycloak-realm.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { part } from '../parts.ts';
import { startTestServer, type TestServer } from '../running-server.ts';

const keycloak = part('keycloak');
const gateway = { client_id: 'toolcrib-gateway', client_secret: gatewaySecret };

describe.skipIf(!keycloak.available)('a GraphQL service behind Keycloak', () => {
  let realm: KeycloakRealm;
  let service: GraphqlService;
  let server: TestServer;
  let admin: ApiClient;
  const as = async (username: string) => server.client((await realm.signIn(username)).access_token);
  const register = async (name: string, audience: string) => {
    const { json } = await admin.post('/api/sources?wait=20000', {
      name,
      source_type: 'graphql',
      graphql: { endpoint: service.endpoint },
      credential: { type: 'token_exchange', audience, ...gateway },
      discovery_credential: { type: 'client_credentials', token_url: `${realm.issuer}/protocol/openid-connect/token`, ...gateway },
      pinning: 'off',
    });
    expect(json).toMatchObject({ status: { state: 'running', tools: 9 } });
  };

  beforeAll(async () => {
    realm = openRealm(keycloak.available ? keycloak.url : '');
    service = await startGraphqlService();
    server = await startTestServer({ issuers: [realm.config], allowedNetworks: ['loopback'] });
    admin = await as('admin');
    await grantEverything(admin);
    await register('pets', 'pizzeria-api');
    await register('stock', 'inventory-api');
  });
  beforeEach(() => void service.requests.splice(0));
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  test('is called as alice, with a token for itself that was exchanged for hers', async () => {
    const alice = await as('alice');
    expect(await alice.listedNames()).toContain('pets:pet');
    const { json } = await alice.call('pets:pet', { name: 'Tom' });
    expect(json).toMatchObject({ success: true, structured_content: { data: { pet: { name: 'Tom' } } } });
    const sent = service.calls()[0]?.headers.authorization?.replace('Bearer ', '') ?? '';
    const keys = createRemoteJWKSet(new URL(`${realm.issuer}/protocol/openid-connect/certs`));
    const { payload } = await jwtVerify(sent, keys, { issuer: realm.issuer, audience: 'pizzeria-api', typ: 'at+jwt' });
    expect(payload).toMatchObject({ azp: 'toolcrib-gateway', sub: decodeJwt(alice.token ?? '').sub });
    expect(sent).not.toBe(alice.token);
  });

  test('is never sent the token that a caller came with', async () => {
    const alice = await as('alice');
    await alice.call('pets:whoami');
    const [, body = '', signature = ''] = (alice.token ?? '').split('.');
    for (const bytes of [body, signature]) expect(JSON.stringify(service.requests)).not.toContain(bytes);
  });

  test('does not hear of somebody who has no role there', async () => {
    const bob = await as('bob');
    expect((await bob.call('stock:whoami')).json).toMatchObject({ error: { code: 'FORBIDDEN', origin: 'caller' } });
    expect(service.calls()).toEqual([]);
    expect((await (await as('alice')).call('stock:whoami')).json).toMatchObject({ success: true });
  });
});
