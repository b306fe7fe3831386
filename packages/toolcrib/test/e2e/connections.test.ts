import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { codeOn, comeBack, connect as connectTo } from '../fixtures/connect.ts';
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

const connect = (client: ApiClient, user: string, query = '') => connectTo(client, { oauth, user, source: id, query });
const redeem = (client: ApiClient, code: string, query = '') => client.post(`/api/connections/${id}/redeem${query}`, { code });

describe('[INV-6] a source with a login per user', () => {
  test('runs without tools, and says why, until somebody connects it for discovery', async () => {
    const { json } = await admin.get('/api/sources/wiki');
    expect(json.status).toMatchObject({
      state: 'running',
      tools: 0,
      message: expect.stringContaining(`/api/connections/${id}?for=discovery`),
    });
    expect(json.health).toBe('unknown');
    expect((await alice.post(`/api/connections/${id}?for=discovery`, undefined)).status).toBe(404);
    const page = await comeBack(admin, await oauth.login(await begin(admin, '?for=discovery'), 'robot'));
    expect((await redeem(admin, codeOn(page.text), '?for=discovery')).json).toMatchObject({ for: 'discovery', connected: true });
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

describe('[MCP-12] [ID-2] a call over the caller’s own connection', () => {
  test('says where to connect when there is none, and does not reach the source', async () => {
    const before = wiki.discoveries.length;
    const { status, json } = await alice.call('wiki:whoami');
    const error = { code: 'UNAUTHENTICATED', origin: 'caller', retryable: false, details: { connect_url: `/api/connections/${id}` } };
    expect([status, json]).toMatchObject([200, { success: false, error }]);
    expect(wiki.discoveries.length).toBe(before);
    expect((await admin.get('/api/sources/wiki')).json.health).toBe('healthy');
  });

  test('[MCP-5] acts as its caller, over a session of its own', async () => {
    await connect(alice, 'alice');
    await connect(bob, 'bob');
    const calls = [alice, bob, alice, bob, alice, bob].map(async (client) => (await client.call('wiki:whoami')).json.text);
    expect(await Promise.all(calls)).toEqual(['alice', 'bob', 'alice', 'bob', 'alice', 'bob']);
    expect(wiki.discoveries.toSorted()).toEqual(['alice', 'bob', 'robot']);
  });

  test('[BFF-6] is listed for its owner alone', async () => {
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
  test('works once: a second use of the same state is too late', async () => {
    const back = await oauth.login(await begin(alice), 'alice');
    const [first, second] = await Promise.all([comeBack(alice, back), comeBack(alice, back)]);
    expect(new Set([first.status, second.status])).toEqual(new Set([200, 400]));
    expect((await comeBack(alice, back)).status).toBe(400);
  });

  test('[SEC-1] that bob begins and alice allows gives bob nothing: only she sees the code, and only he could use it', async () => {
    await connect(bob, 'bob');
    const asked = oauth.seen.token.length;
    const page = await comeBack(alice, await oauth.login(await begin(bob), 'alice'));
    expect(page.text).toContain('bob asked to connect Wiki');
    expect(page.text).toContain('Nothing is connected yet.');
    expect(page.text).toContain('If you are not bob, close this page. Pass the code on to nobody');
    const code = codeOn(page.text);
    // He has the link, the state and his token, but not what her browser was shown.
    const { status, json } = await redeem(bob, 'ABCD-EFGH-JKMN-PQRS');
    expect([status, json]).toMatchObject([400, { code: 'VALIDATION_ERROR', field: 'code' }]);
    expect((await bob.call('wiki:whoami')).json.text).toBe('bob');
    // She has the code, but did not begin it; nor did an administrator.
    for (const other of [alice, admin]) expect([400, 409]).toContain((await redeem(other, code)).status);
    expect((await alice.call('wiki:whoami')).json.text).toBe('alice');
    // Nothing has been exchanged at all.
    expect(oauth.seen.token.length).toBe(asked);
  });

  test('[SEC-1] comes back to the callback of its own source only', async () => {
    const other = { name: 'Other', mcp_server_url: wiki.url, credential: { type: 'oauth' }, discovery_credential: { type: 'oauth' } };
    const { json: source } = await admin.post('/api/sources?wait=20000', other);
    const back = await oauth.login(await begin(alice), 'alice');
    expect(back.pathname).toBe(`/api/connections/callback/${id}`);
    back.pathname = `/api/connections/callback/${source.id}`;
    const page = await comeBack(alice, back);
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('begun for another source')]);
    await admin.delete(`/api/sources/${source.id}`);
  });

  test('redirects to the machine of the user who began it, by port only', async () => {
    const page = await comeBack(alice, await oauth.login(await begin(alice, '?loopback_port=45678'), 'alice'));
    expect(page.text).toContain(`<a href="http://127.0.0.1:45678/?code=${codeOn(page.text)}">I am alice: finish now</a>`);
    for (const port of ['80', '70000', 'evil.example', '1@evil.example']) {
      expect((await alice.post(`/api/connections/${id}?loopback_port=${port}`, undefined)).status).toBe(400);
    }
  });

  test.each<[string, (back: URL) => void]>([
    ['an unknown state', (back) => back.searchParams.set('state', 'made-up')],
    ['no state', (back) => back.searchParams.delete('state')],
    ['the answer of another authorization server', (back) => back.searchParams.set('iss', 'https://evil.example')],
    ['an answer that does not say whose it is', (back) => back.searchParams.delete('iss')],
    ['a refusal', (back) => back.searchParams.set('error', 'access_denied')],
  ])('that comes back with %s makes no connection, and the page says what to do', async (_what, spoil) => {
    await connect(bob, 'bob');
    const back = await oauth.login(await begin(bob), 'mallory');
    spoil(back);
    const page = await comeBack(bob, back);
    expect(page.status).toBeGreaterThanOrEqual(400);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('<h1>Not connected</h1>');
    // Everything from before still exists.
    expect((await bob.call('wiki:whoami')).json.text).toBe('bob');
  });

  test('whose code the authorization server refuses makes no connection', async () => {
    await connect(bob, 'bob');
    const back = await oauth.login(await begin(bob), 'mallory');
    back.searchParams.set('code', 'stolen');
    const { status, json } = await redeem(bob, codeOn((await comeBack(bob, back)).text));
    expect([status, json.message]).toEqual([503, expect.stringContaining('Wiki could not be connected')]);
    expect((await bob.call('wiki:whoami')).json.text).toBe('bob');
  });

  test('shows nothing it is sent as markup', async () => {
    const { text } = await alice.get('/api/connections/callback/%3Cscript%3E?state=%3Cscript%3E&error=%3Cscript%3E');
    expect(text).not.toContain('<script');
  });

  test('needs a source that the caller may use and that takes connections', async () => {
    expect((await alice.post('/api/connections/nothing', undefined)).status).toBe(404);
    expect((await admin.post('/api/connections/builtin', undefined)).json).toMatchObject({ code: 'CONFLICT' });
    expect((await alice.delete(`/api/connections/${id}?for=discovery`)).status).toBe(403);
  });
});

describe('[MCP-12] the tokens of a connection', () => {
  test('are renewed before they expire, once for any number of calls', async () => {
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

  test('that are refused right after they were issued need a new connection', async () => {
    await connect(alice, 'alice');
    expect((await alice.call('wiki:whoami')).json.text).toBe('alice');
    oauth.expireAccessTokens();
    expect((await alice.call('wiki:whoami')).json.error).toMatchObject({ code: 'UNAUTHENTICATED', origin: 'caller', upstream_status: 401 });
  });

  test('[ID-5] hurt neither other users nor the source when they are gone', async () => {
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

  test('[SEC-4] can be revoked by an administrator, which is recorded', async () => {
    await connect(alice, 'alice');
    await connect(bob, 'bob');
    const { connections } = (await admin.get('/api/user-connections?source=wiki')).json;
    expect(connections.map(({ user, namespace }: Record<string, string>) => [user, namespace])).toEqual([
      ['bob', 'wiki'],
      ['alice', 'wiki'],
    ]);
    expect(JSON.stringify(connections)).not.toMatch(/at-(alice|bob)/);
    const { owner } = connections[0];
    const path = `/api/user-connections?owner=${encodeURIComponent(owner)}`;
    expect((await alice.delete(path)).status).toBe(403);
    expect((await bob.call('wiki:whoami')).json.text).toBe('bob');
    expect(await admin.delete(path)).toMatchObject({ status: 200, json: { ended: 1 } });
    expect(oauth.seen.revoked.slice(-2)).toEqual(['refresh_token', 'access_token']);
    expect((await bob.call('wiki:whoami')).json.error).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await alice.call('wiki:whoami')).json.text).toBe('alice');
    const [change] = (await admin.get('/api/events?topic=connection&limit=1')).json.events;
    expect(change).toMatchObject({ kind: 'connection-revoked', subject: id, before: { owner } });
    expect(change.actor).not.toBe(owner);
    expect((await admin.delete(path)).status).toBe(404);
    expect((await admin.get('/api/user-connections?source=nothing')).status).toBe(404);
  });

  test('can be revoked by a user who may no longer use the source', async () => {
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

  test('[ERR-10] with too few scopes say so, and the next connection asks for more', async () => {
    await connect(bob, 'bob');
    const { json } = await bob.call('wiki:guarded');
    expect(json.error).toMatchObject({ code: 'UNAUTHENTICATED', upstream_status: 403, details: { connect_url: `/api/connections/${id}` } });
    // Granted scopes stay granted.
    expect((await bob.call('wiki:whoami')).json.text).toBe('bob');
    await connect(bob, 'bob');
    expect(oauth.seen.authorize.at(-1)?.get('scope')).toBe('tools admin');
    expect((await bob.call('wiki:guarded')).json.text).toBe('guarded');
  });

  test('are sent to no other address than the one they were made for', async () => {
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

  test('are requested from the new authorization server after the source has moved', async () => {
    await using other = await startOAuthServer();
    wiki.moveTo(other);
    try {
      expect((await bob.call('wiki:whoami')).json.error).toMatchObject({ code: 'UNAUTHENTICATED' });
      await connectTo(bob, { oauth: other, user: 'bobby', source: id });
      expect((await bob.call('wiki:whoami')).json.text).toBe('bobby');
    } finally {
      wiki.moveTo(oauth);
    }
  });
});
