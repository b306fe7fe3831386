import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { gatewaySecret } from '../fixtures/keycloak-realm.ts';
import { startRecordingUpstream, type RecordingUpstream } from '../fixtures/recording-upstream.ts';
import { part } from '../parts.ts';
import { until } from '../running-server.ts';
import { startCompanyBridge } from './company-bridge.ts';
import { enterDoor } from './enter-door.ts';
import { PublicClient, type Tokens } from './public-client.ts';
import { SdkClient } from './sdk-client.ts';

const keycloak = part('keycloak');
const fixed = { client_id: 'fixed-client', name: 'A fixed client', redirect_uris: ['http://127.0.0.1/callback'] };

describe.skipIf(!keycloak.available)('the bridge in front of Keycloak', () => {
  let bridge: Awaited<ReturnType<typeof startCompanyBridge>>;
  let upstream: RecordingUpstream;
  beforeAll(async () => {
    upstream = await startRecordingUpstream();
    bridge = await startCompanyBridge(keycloak.available ? keycloak.url : '', { bridge: { clients: [fixed], recheck_seconds: 3 } });
    const gateway = { client_id: 'toolcrib-gateway', client_secret: gatewaySecret };
    const body = {
      name: 'pizzeria',
      mcp_server_url: upstream.url,
      credential: { type: 'token_exchange', audience: 'pizzeria-api', ...gateway },
      discovery_credential: { type: 'client_credentials', token_url: `${bridge.realm.issuer}/protocol/openid-connect/token`, ...gateway },
    };
    await bridge.admin.post('/api/sources?wait=60000', body);
  }, 180_000);
  beforeEach(() => void upstream.requests.splice(0));
  afterAll(async () => {
    await bridge?.[Symbol.asyncDispose]();
    await upstream?.[Symbol.asyncDispose]();
  });

  async function logIn(username = 'alice'): Promise<{ client: PublicClient; tokens: Tokens }> {
    const client = await PublicClient.register(bridge.url);
    const person = bridge.person();
    return { client, tokens: await client.logIn(person, (page) => bridge.allow(person, page, username)) };
  }

  const enter = (token: string, path = '/mcp') => enterDoor(bridge.url, token, path);

  test.each([
    ['that registers itself', {}],
    ['that the operator has configured', { fixedId: 'fixed-client' }],
  ])('[LOGIN-3] [LOGIN-4] the official SDK logs in with a client %s, and calls as the person', async (_what, options) => {
    for (const username of ['alice', 'bob']) {
      const sdk = new SdkClient(`${bridge.url}/mcp`, options);
      const person = bridge.person();
      await sdk.logIn(person, (page) => bridge.allow(person, page, username));
      await using client = await sdk.connect();
      upstream.requests.splice(0);
      await client.callTool({ name: 'pizzeria_whoami', arguments: {} });
      const sent = upstream.calls()[0]?.headers.authorization?.replace('Bearer ', '') ?? '';
      expect(decodeJwt(sent)).toMatchObject({ aud: 'pizzeria-api', preferred_username: username });
      expect(upstream.everything()).not.toContain(sdk.saved?.access_token.split('.')[2]);
    }
  });

  test('[LOGIN-3] the official SDK refreshes its token and keeps its place', async () => {
    const sdk = new SdkClient(`${bridge.url}/mcp`);
    const person = bridge.person();
    await sdk.logIn(person, (page) => bridge.allow(person, page));
    const first = sdk.saved;
    if (first !== undefined) sdk.saved = { ...first, access_token: `${first.access_token.slice(0, -8)}AAAAAAAA` };
    await using client = await sdk.connect();
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    expect(sdk.saved?.refresh_token).not.toBe(first?.refresh_token);
  });

  test('[LOGIN-4] the record of changes names the person as Keycloak does', async () => {
    const { tokens } = await logIn('bob');
    expect(await enter(tokens.access_token, '/mcp?mode=search')).toBe(200);
    const { events } = (await bridge.admin.get('/api/events?topic=login&limit=1')).json;
    expect(events[0]).toMatchObject({ kind: 'login-allowed', actor_name: 'bob', actor: expect.stringMatching(`^${bridge.realm.issuer} `) });
  });

  test('[LOGIN-2] a token of the bridge opens one address of the door, and neither another nor the REST API', async () => {
    const { tokens } = await logIn();
    expect(await enter(tokens.access_token)).toBe(200);
    expect(await enter(tokens.access_token, '/mcp?mode=search')).toBe(200);
    expect(await enter(tokens.access_token, '/mcp/everything')).toBe(401);
    expect((await bridge.server.client(tokens.access_token).get('/api/bff/tools')).status).toBe(401);
  });

  test('[LOGIN-4] policies decide by what Keycloak says of the person', async () => {
    const matchers = [{ path: 'groups', operator: 'contains', value: '/managers' }];
    expect(await bridge.admin.post('/api/policies', { id: 'managers', name: 'Managers', matchers, groups: ['everything'] })).toMatchObject({
      status: 201,
    });
    expect(await bridge.admin.delete('/api/policies/everybody')).toMatchObject({ status: 204 });
    const toolsOf = async (username: string) => {
      const sdk = new SdkClient(`${bridge.url}/mcp`);
      const person = bridge.person();
      await sdk.logIn(person, (page) => bridge.allow(person, page, username));
      await using client = await sdk.connect();
      return (await client.listTools()).tools.map(({ name }) => name);
    };
    expect(await toolsOf('alice')).toContain('pizzeria_whoami');
    expect(await toolsOf('bob')).toEqual([]);
  });

  test('[LOGIN-5] after the person is signed out at Keycloak, nothing that the bridge gave out is of use within the stated time', async () => {
    const { client, tokens } = await logIn('bob');
    expect(await enter(tokens.access_token)).toBe(200);
    const { sub } = decodeJwt(await bridge.realm.signIn('bob').then(({ access_token }) => access_token));
    await bridge.realm.administer('POST', `/users/${sub}/logout`);
    await until(async () => (await enter(tokens.access_token)) === 401);
    expect(await client.refresh(tokens.refresh_token)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
  });
});
