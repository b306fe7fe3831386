import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startEverything } from '../conformance/everything/serve-http.ts';
import { watchedUri } from '../conformance/everything/catalogue.ts';
import { fixture, fixtureRules } from '../fixtures/open-server.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { freshPostgresDatabase, part, type FreshDatabase } from '../parts.ts';
import { adminClaims, startTestServer, until, userClaims, type TestServer } from '../running-server.ts';
import { connectToDoor, type Era } from './connect.ts';

const postgres = part('postgres');

describe.skipIf(!postgres.available)('a client before two servers on one PostgreSQL', () => {
  let database: FreshDatabase;
  let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;
  let servers: [TestServer, TestServer];
  let admin: ApiClient;
  let everything: Awaited<ReturnType<typeof startEverything>>;
  let token: string;

  beforeAll(async () => {
    database = await freshPostgresDatabase();
    issuer = await startTokenIssuer();
    everything = await startEverything({ era: 'legacy' });
    const config = {
      databaseUrl: database.url,
      allowedNetworks: ['loopback'] as ['loopback'],
      issuers: [issuer.config],
      mcpDoor: true,
      runRules: fixtureRules,
    };
    servers = await Promise.all([startTestServer(config), startTestServer(config)]);
    token = await issuer.sign(userClaims);
    admin = servers[0].client(await issuer.sign(adminClaims));
    await admin.post('/api/sources?wait=60000', { name: 'One', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' });
    await admin.post('/api/sources?wait=60000', { name: 'Everything', mcp_server_url: everything.url, allow_insecure: true });
    await admin.post('/api/groups', { id: 'all', name: 'All', selectors: [{ source: '*' }] });
    const matchers = [{ path: 'sub', operator: 'exists' }];
    await admin.post('/api/policies', { id: 'everybody', name: 'Everybody', matchers, groups: ['all'] });
    for (const server of servers) {
      const list = async () => (await server.client(token).get('/api/bff/tools?limit=1000')).text;
      for (const tool of ['one:elicit', 'everything:test_simple_text']) await until(async () => (await list()).includes(`"${tool}"`));
    }
  }, 120_000);
  afterAll(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
    await everything[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  /** Every POST goes to the server that did not get the one before; streams go to the one that `streams` says. */
  async function enter(era: Era, streams = 1, isSpread = true) {
    let posts = 0;
    const connected = await connectToDoor({
      url: `${servers[0].url}/mcp`,
      era,
      token,
      route(url, method) {
        const n = method === 'POST' ? (isSpread ? posts++ % 2 : 0) : streams;
        return url.replace(servers[0].url, servers[n]?.url ?? '');
      },
    });
    connected.client.setRequestHandler('elicitation/create', ({ params }) => ({
      action: 'accept',
      content: { said: (params as { message: string }).message },
    }));
    await connected.connect();
    return connected;
  }

  const send = (server: TestServer, method: string, sessionId: string | undefined, body?: object) =>
    fetch(`${server.url}/mcp`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': String(sessionId),
      },
      ...(body && { body: JSON.stringify(body) }),
    });

  test.each(['legacy', 'modern'] as const)(
    '[DOOR-4] lists and calls at either, in the %s era',
    async (era) => {
      await using connected = await enter(era);
      const { client } = connected;
      for (let round = 0; round < 4; round++) {
        expect((await client.listTools()).tools.map(({ name }) => name)).toContain('one_elicit');
        const seen: number[] = [];
        const onprogress = ({ progress }: { progress: number }) => void seen.push(progress);
        await client.callTool({ name: 'one_progress', arguments: { steps: 3 } }, { onprogress });
        expect(seen).toEqual([1, 2, 3]);
      }
    },
    60_000,
  );

  test.each(['legacy', 'modern'] as const)(
    '[DOOR-5] a question is answered at the other, in the %s era',
    async (era) => {
      await using connected = await enter(era);
      for (const message of ['Where to?', 'x'.repeat(20_000)]) {
        const answer = await connected.client.callTool({ name: 'one_elicit', arguments: { message } });
        expect(JSON.stringify(answer.content)).toContain(message);
      }
      const { calls } = (await admin.get('/api/calls?limit=2&tool=one:elicit')).json;
      expect(calls.map(({ status }: { status: string }) => status)).toEqual(['completed', 'completed']);
    },
    60_000,
  );

  test('[DOOR-5] a requestState that nobody knows any more is refused in words that a model can act on', async () => {
    await using connected = await enter('modern');
    const { client } = connected;
    const call = { name: 'one_elicit', arguments: { message: 'A' } };
    const requestState = 'v1.nothing';
    await expect(client.callTool({ ...call, requestState } as typeof call)).rejects.toThrow('begin anew');
  });

  test('[DOOR-5] a call is cancelled through the other', async () => {
    await using connected = await enter('legacy');
    const ending = new AbortController();
    const call = connected.client.callTool(
      { name: 'one_begin', arguments: {} },
      { signal: ending.signal, onprogress: () => ending.abort() },
    );
    await expect(call).rejects.toThrow('abort');
    await until(async () => (await admin.get('/api/calls?limit=1&tool=one:begin')).json.calls[0]?.status === 'cancelled');
  }, 60_000);

  test('[DOOR-4] a session that was ended at one is unknown at the other, also when that has never seen it', async () => {
    const initialize = {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    };
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    for (const isSeen of [true, false]) {
      const sessionId = (await send(servers[0], 'POST', undefined, initialize)).headers.get('mcp-session-id') ?? undefined;
      if (isSeen) await send(servers[1], 'POST', sessionId, ping);
      expect((await send(servers[0], 'DELETE', sessionId)).status).toBe(200);
      expect((await send(servers[0], 'POST', sessionId, ping)).status).toBe(404);
      await until(async () => (await send(servers[1], 'POST', sessionId, ping)).status === 404);
    }
  });

  test('[DOOR-5] a stream at one hears of a resource that was subscribed to at the other', async () => {
    await using connected = await enter('legacy', 1, false);
    const { client } = connected;
    const uri = `toolcrib://everything/${watchedUri}`;
    const heard: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
    await client.subscribeResource({ uri });
    // The client opens its stream when it likes.
    const changing = setInterval(() => everything.catalogue.update(), 300);
    await until(async () => heard.length > 0).finally(() => clearInterval(changing));
    expect(new Set(heard)).toEqual(new Set([uri]));
  }, 60_000);

  test('[DOOR-5] a stream at one hears of changed lists while calls go to both', async () => {
    await using connected = await enter('legacy', 0);
    const heard = Promise.withResolvers<void>();
    connected.client.setNotificationHandler('notifications/tools/list_changed', () => heard.resolve());
    let hidden = false;
    const changing = setInterval(() => void admin.patch('/api/tools/one:echo', { hidden: (hidden = !hidden) }), 500);
    await expect(heard.promise.finally(() => clearInterval(changing))).resolves.toBeUndefined();
    await admin.patch('/api/tools/one:echo', { hidden: false });
  }, 60_000);
});
