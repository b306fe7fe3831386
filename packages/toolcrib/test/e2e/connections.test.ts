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
    // [SEC-4] Of the source, but made by somebody.
    const [made] = (await admin.get('/api/events?topic=connection&limit=1')).json.events;
    expect(made).toMatchObject({ kind: 'connection-made', actor: expect.stringMatching(/\/dev \S+$/), client: 'toolcrib-cli' });
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

describe('[BFF-6] an authorization', () => {
  const finish = (client: ApiClient, back: URL) => client.get(`${back.pathname}${back.search}`);

  test('works once: whoever comes back with the same state is too late', async () => {
    const back = await oauth.login(await begin(alice), 'alice');
    const [first, second] = await Promise.all([finish(alice, back), finish(bob, back)]);
    expect(new Set([first.status, second.status])).toEqual(new Set([200, 400]));
    expect((await finish(alice, back)).status).toBe(400);
  });

  test('is for the one who began it, whoever comes back with it', async () => {
    const back = await oauth.login(await begin(bob), 'robert');
    // The browser brings no token; the state alone says whose connection it is.
    expect((await finish(alice, back)).text).toContain('Wiki is connected for bob.');
    expect((await bob.call('wiki:whoami')).json.text).toBe('robert');
    expect((await alice.call('wiki:whoami')).json.text).toBe('alice');
  });

  test.each<[string, (back: URL) => void]>([
    ['an unknown state', (back) => back.searchParams.set('state', 'made-up')],
    ['no state', (back) => back.searchParams.delete('state')],
    ['the answer of another authorization server', (back) => back.searchParams.set('iss', 'https://evil.example')],
    ['an answer that does not say whose it is', (back) => back.searchParams.delete('iss')],
    ['a code of somebody else', (back) => back.searchParams.set('code', 'stolen')],
    ['a refusal', (back) => back.searchParams.set('error', 'access_denied')],
  ])('that comes back with %s makes no connection, and the page says what to do', async (_what, spoil) => {
    await connect(bob, 'bob');
    const back = await oauth.login(await begin(bob), 'mallory');
    spoil(back);
    const page = await finish(bob, back);
    expect(page.status).toBeGreaterThanOrEqual(400);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('<h1>Not connected</h1>');
    // What there was before is still there.
    expect((await bob.call('wiki:whoami')).json.text).toBe('bob');
  });

  test('shows nothing of what it is sent as markup', async () => {
    const { text } = await alice.get('/api/connections/callback?state=%3Cscript%3E&error=%3Cscript%3E');
    expect(text).not.toContain('<script');
  });

  test('needs a source that the caller may use, and that wants a connection', async () => {
    expect((await alice.post('/api/connections/nothing', undefined)).status).toBe(404);
    expect((await admin.post('/api/connections/builtin', undefined)).json).toMatchObject({ code: 'CONFLICT' });
    expect((await alice.delete(`/api/connections/${id}?for=discovery`)).status).toBe(403);
  });
});

describe('[MCP-12] the tokens of a connection', () => {
  test('are renewed before they end, once for however many calls', async () => {
    oauth.settings.tokenSeconds = 1;
    await connect(alice, 'alice');
    oauth.settings.tokenSeconds = 3600;
    const before = oauth.seen.token.length;
    // Half of its second is soon over; from then on the next call renews it.
    await until(async () => {
      const texts = await Promise.all([1, 2, 3, 4, 5].map(async () => (await alice.call('wiki:whoami')).json.text));
      expect(new Set(texts)).toEqual(new Set(['alice']));
      return oauth.seen.token.length > before;
    });
    expect(oauth.seen.token.slice(before).map((form) => form.get('grant_type'))).toEqual(['refresh_token']);
  });

  test('that are refused a moment after they were given out need a new connection', async () => {
    await connect(alice, 'alice');
    expect((await alice.call('wiki:whoami')).json.text).toBe('alice');
    oauth.expireAccessTokens();
    expect((await alice.call('wiki:whoami')).json.error).toMatchObject({ code: 'UNAUTHENTICATED', upstream_status: 401 });
  });

  test('[ID-5] that are gone hurt nobody else, and not the source', async () => {
    await connect(admin, 'robot', '?for=discovery');
    await until(async () => (await admin.get('/api/sources/wiki')).json.status.message === undefined);
    await connect(alice, 'alice');
    await connect(bob, 'bob');
    expect((await alice.delete(`/api/connections/${id}`)).status).toBe(204);
    expect(oauth.seen.revoked.slice(-2)).toEqual(['refresh_token', 'access_token']);
    expect((await alice.call('wiki:whoami')).json.error).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await bob.call('wiki:whoami')).json.text).toBe('bob');
    expect((await admin.get('/api/sources/wiki')).json).toMatchObject({ health: 'healthy', status: { state: 'running', tools: 3 } });
    expect((await alice.delete(`/api/connections/${id}`)).status).toBe(404);
  });

  test('can be ended by somebody who may not use the source any more', async () => {
    await connect(alice, 'alice');
    const { json: policy } = await admin.get('/api/policies/everybody');
    const { id: _id, created_at: _created, updated_at: _updated, managed_by: _managed, ...input } = policy;
    await admin.put('/api/policies/everybody', { ...input, enabled: false });
    expect((await alice.get('/api/connections')).json.connections).toMatchObject([{ source_id: id, connected: true }]);
    expect((await alice.post(`/api/connections/${id}`, undefined)).status).toBe(404);
    expect((await alice.delete(`/api/connections/${id}`)).status).toBe(204);
    expect((await alice.get('/api/connections')).json.connections).toEqual([]);
    await admin.put('/api/policies/everybody', { ...input, enabled: true });
  });

  test('[ERR-10] that do not allow enough say so, and the next connection asks for more', async () => {
    await connect(bob, 'bob');
    const { json } = await bob.call('wiki:guarded');
    expect(json.error).toMatchObject({ code: 'UNAUTHENTICATED', upstream_status: 403, details: { connect_url: `/api/connections/${id}` } });
    // What was allowed goes on being allowed.
    expect((await bob.call('wiki:whoami')).json.text).toBe('bob');
    await connect(bob, 'bob');
    expect(oauth.seen.authorize.at(-1)?.get('scope')).toBe('tools admin');
    expect((await bob.call('wiki:guarded')).json.text).toBe('guarded');
  });

  test('go to no other address than the one they were made for', async () => {
    await connect(bob, 'bob');
    await using elsewhere = await startProtectedServer(oauth);
    const body = { name: 'Wiki', mcp_server_url: elsewhere.url, credential: { type: 'oauth' }, discovery_credential: { type: 'oauth' } };
    await admin.put(`/api/sources/${id}`, body);
    await until(async () => (await admin.get('/api/sources/wiki')).json.status.message !== undefined);
    expect((await bob.call('wiki:whoami')).json.error).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(elsewhere.refusals).toEqual([]);
    await admin.put(`/api/sources/${id}`, { ...body, mcp_server_url: wiki.url });
    await until(async () => (await admin.get('/api/sources/wiki')).json.status.state === 'running');
    expect((await bob.call('wiki:whoami')).json.text).toBe('bob');
  });

  test('are asked for where the server is now, when it has moved to another authorization server', async () => {
    await using other = await startOAuthServer();
    wiki.moveTo(other);
    try {
      expect((await bob.call('wiki:whoami')).json.error).toMatchObject({ code: 'UNAUTHENTICATED' });
      const back = await other.login(await begin(bob), 'bobby');
      await bob.get(`${back.pathname}${back.search}`);
      expect((await bob.call('wiki:whoami')).json.text).toBe('bobby');
    } finally {
      wiki.moveTo(oauth);
    }
  });
});
