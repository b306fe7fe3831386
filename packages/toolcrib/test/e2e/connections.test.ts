import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startProtectedServer } from '../fixtures/mcp/protected-server.ts';
import { startOAuthServer, type OAuthServer } from '../fixtures/oauth-server.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { until } from '../running-server.ts';

let server: OpenServer;
let admin: ApiClient;
let alice: ApiClient;
let bob: ApiClient;
let oauth: OAuthServer;
let wiki: Awaited<ReturnType<typeof startProtectedServer>>;
let id: string;

beforeAll(async () => {
  oauth = await startOAuthServer();
  wiki = await startProtectedServer(oauth);
  server = await startOpenServer();
  ({ admin, alice, bob } = server);
  const body = { name: 'Wiki', mcp_server_url: wiki.url, credential: { type: 'oauth' }, discovery_credential: { type: 'oauth' } };
  ({ id } = (await admin.post('/api/sources?wait=20000', body)).json);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await wiki[Symbol.asyncDispose]();
  await oauth[Symbol.asyncDispose]();
});

async function begin(client: ApiClient, query = ''): Promise<string> {
  const { status, json } = await client.post(`/api/connections/${id}${query}`, undefined);
  expect([status, json]).toMatchObject([200, { expires_at: expect.any(Number) }]);
  return json.authorization_url;
}

/** The user allows it, and the browser comes back. */
async function connect(client: ApiClient, user: string, query = '') {
  const back = await oauth.login(await begin(client, query), user);
  return client.get(`${back.pathname}${back.search}`);
}

describe('[INV-6] a source to which every user speaks for themselves', () => {
  test('runs without tools, and says why, until somebody has connected it for discovery', async () => {
    const { json } = await admin.get('/api/sources/wiki');
    expect(json.status).toMatchObject({
      state: 'running',
      tools: 0,
      message: expect.stringContaining(`/api/connections/${id}?for=discovery`),
    });
    expect(json.health).toBe('unknown');
    expect((await alice.post(`/api/connections/${id}?for=discovery`, undefined)).status).toBe(404);
    const page = await connect(admin, 'robot', '?for=discovery');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    await until(async () => (await admin.get('/api/sources/wiki')).json.status.tools === 3);
    expect(wiki.discoveries).toEqual(['robot']);
    expect((await admin.get('/api/sources/wiki')).json.status).toEqual({ state: 'running', tools: 3 });
  });
});

describe('[MCP-12] [ID-2] a call over a connection of the caller', () => {
  test('without one says where to connect, and reaches nobody', async () => {
    const before = wiki.discoveries.length;
    const { status, json } = await alice.call('wiki:whoami');
    const error = { code: 'UNAUTHENTICATED', retryable: false, details: { connect_url: `/api/connections/${id}` } };
    expect([status, json]).toMatchObject([200, { success: false, error }]);
    expect(wiki.discoveries.length).toBe(before);
    expect((await admin.get('/api/sources/wiki')).json.health).toBe('healthy');
  });

  test('[MCP-5] speaks as the one who calls, over a session of their own', async () => {
    await connect(alice, 'alice');
    await connect(bob, 'bob');
    const calls = [alice, bob, alice, bob, alice, bob].map(async (client) => (await client.call('wiki:whoami')).json.text);
    expect(await Promise.all(calls)).toEqual(['alice', 'bob', 'alice', 'bob', 'alice', 'bob']);
    expect(wiki.discoveries.toSorted()).toEqual(['alice', 'bob', 'robot']);
  });

  test('[BFF-6] is listed, for its owner alone', async () => {
    const { connections } = (await alice.get('/api/connections')).json;
    expect(connections).toMatchObject([{ source_id: id, namespace: 'wiki', for: 'calls', connected: true }]);
    const ofAdmin = (await admin.get('/api/connections')).json.connections;
    expect(ofAdmin.map(({ for: purpose, connected }: Record<string, unknown>) => [purpose, connected])).toEqual([
      ['calls', false],
      ['discovery', true],
    ]);
  });

  test('[ENV-4] never shows the token', async () => {
    expect((await alice.call('wiki:leak')).json.text).toBe('the token is ***');
    expect(JSON.stringify((await admin.get('/api/events')).json)).not.toContain('at-alice');
  });
});
