import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cuttableProxy } from '../fixtures/cuttable-proxy.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { freshPostgresDatabase, type FreshDatabase, part } from '../parts.ts';
import {
  adminClaims,
  grantBuiltinTools,
  spawnServer,
  startTestServer,
  temporaryDirectory,
  type TestServer,
  until,
  userClaims,
} from '../running-server.ts';

const postgres = part('postgres');

describe.skipIf(!postgres.available)('[OPS-2] two servers on one PostgreSQL', () => {
  let database: FreshDatabase;
  let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;
  let servers: [TestServer, TestServer];
  let users: [ApiClient, ApiClient];
  let admins: [ApiClient, ApiClient];

  beforeAll(async () => {
    database = await freshPostgresDatabase();
    issuer = await startTokenIssuer();
    const config = { databaseUrl: database.url, issuers: [issuer.config] };
    // Both at once on an empty database: neither may stumble over what the other makes.
    servers = await Promise.all([startTestServer(config), startTestServer(config)]);
    const [userToken, adminToken] = await Promise.all([issuer.sign(userClaims), issuer.sign(adminClaims)]);
    users = [servers[0].client(userToken), servers[1].client(userToken)];
    admins = [servers[0].client(adminToken), servers[1].client(adminToken)];
    await grantBuiltinTools(admins[0]);
    await until(async () => (await users[1].listedNames()).length > 0);
  });
  afterAll(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  test('have the same tools under the same ids', async () => {
    const lists = await Promise.all(users.map((user) => user.get('/api/bff/tools')));
    expect(lists[1]?.text).toBe(lists[0]?.text);
    expect(lists[1]?.headers.get('etag')).toBe(lists[0]?.headers.get('etag'));
  });

  test('[POL-5] refuse what was revoked on the other', async () => {
    const { json } = await admins[0].get('/api/policies/users-use-builtin-tools');
    const { id: _id, created_at: _created, updated_at: _updated, managed_by: _managed, ...input } = json;
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      for (const enabled of [false, true]) {
        await admins[0].put('/api/policies/users-use-builtin-tools', { ...input, enabled });
        const began = performance.now();
        const status = enabled ? 200 : 404;
        expect(await until(async () => (await users[1].call('builtin:uuid')).status === status)).toBe(true);
        times.push(performance.now() - began);
      }
    }
    // The requirement names a second, and a busy machine keeps nobody to it: what was measured is printed, and five seconds without a look
    // suspend the server (`withdrawn.test.ts`).
    console.log(`A change on one server decided on the other after at most ${Math.max(...times).toFixed(0)} ms`);
  });

  test('[BFF-4] send changes made on one to the streams of the other', async () => {
    await using stream = await users[1].follow();
    await stream.nextOf('source_status');
    await admins[0].patch('/api/tools/builtin:hash', { hidden: true });
    expect((await stream.nextOf('tool_list')).data.difference.removed).toEqual(['builtin:hash']);
    await admins[0].patch('/api/tools/builtin:hash', { hidden: false });
    expect((await stream.nextOf('tool_list')).data.difference.added).toEqual(['builtin:hash']);
  });

  test('[BFF-5] show and cancel a call that runs on the other', async () => {
    const { json } = await users[0].call('builtin:wait', { seconds: 300 }, { async: true });
    expect((await users[1].get(json.location)).json).toMatchObject({ status: 'running', tool: 'builtin:wait' });
    expect((await admins[1].get(json.location)).status).toBe(404);
    expect((await admins[1].delete(json.location)).status).toBe(404);
    expect((await users[1].delete(json.location)).status).toBe(200);
    for (const user of users) {
      const state = await until(async () => {
        const { json: seen } = await user.get(json.location);
        return seen.status !== 'running' && seen;
      });
      expect(state).toMatchObject({ status: 'cancelled', answer: { status: 'cancelled' } });
    }
    expect((await admins[0].get(`/api/calls/${json.call_id}`)).json.status).toBe('cancelled');
  });

  test('[EXEC-9] run a tool once when both get the same Idempotency-Key at once', async () => {
    for (let round = 0; round < 5; round++) {
      const headers = { 'idempotency-key': `both-${round}` };
      const calls = [...users, ...users].map((user) => user.call('builtin:wait', { seconds: 0.05 }, {}, headers));
      const answers = await Promise.all(calls);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers[0]?.json).toMatchObject({ success: true });
    }
    const { calls } = (await admins[0].get('/api/calls?tool=builtin:wait&status=completed&limit=1000')).json;
    expect(calls).toHaveLength(5);
    const other = await users[1].call('builtin:wait', { seconds: 0.06 }, {}, { 'idempotency-key': 'both-0' });
    expect(other.json.code).toBe('CONFLICT');
  });

  test('[SEC-4] lose none of the changes made on both at once, and record each with what it replaced', async () => {
    const path = '/api/tools/builtin:text_diff';
    for (let round = 0; round < 5; round++) {
      await Promise.all([
        admins[0].patch(path, { hidden: true }),
        admins[1].patch(path, { description: `Round ${round}` }),
        admins[0].patch(path, { labels: { round: String(round) } }),
      ]);
      const expected = { state: 'hidden', description: `Round ${round}`, labels: { round: String(round) } };
      for (const admin of admins) {
        const seen = await until(async () => {
          const { json } = await admin.get(path);
          const { state, description, labels } = json;
          return state === expected.state && description === expected.description && labels.round === expected.labels.round && json;
        });
        expect(seen).toMatchObject(expected);
      }
    }
    await admins[1].patch(path, { hidden: false });
    const { events } = (await admins[0].get('/api/events?topic=tool&limit=10')).json;
    for (let index = 0; index + 1 < events.length; index++) expect(events[index].before).toEqual(events[index + 1].after);
  });

  test('do not delete a group on one while a policy on the other takes it', async () => {
    for (let round = 0; round < 5; round++) {
      const id = `contested-${round}`;
      await admins[0].post('/api/groups', { id, name: id });
      const [deleted, granted] = await Promise.all([
        admins[0].delete(`/api/groups/${id}`),
        admins[1].post('/api/policies', { id, name: id, groups: [id] }),
      ]);
      expect([
        [204, 400],
        [409, 201],
      ]).toContainEqual([deleted.status, granted.status]);
    }
  });

  test('accept text that PostgreSQL cannot store, in a name and in a search', async () => {
    const odd = 'a\u0000b\ud800';
    expect((await users[0].call(odd)).status).toBe(404);
    const created = await admins[0].post('/api/groups', { id: 'odd', name: `x${odd}`, description: odd, selectors: [{ name: odd }] });
    expect(created.status).toBe(201);
    expect((await admins[0].post('/api/groups', { name: odd, include: [odd] })).status).toBe(400);
    expect((await admins[0].get('/api/calls?subject=%00')).json.calls).toEqual([]);
    expect((await admins[0].get('/api/groups/%00')).status).toBe(404);
    const cursor = Buffer.from(JSON.stringify('\u0000')).toString('base64url');
    expect((await admins[0].get(`/api/calls?cursor=${cursor}`)).status).toBe(200);
    const far = Buffer.from(String(Number.MAX_SAFE_INTEGER)).toString('base64url');
    expect((await admins[0].get(`/api/events?cursor=${far}&limit=1`)).json.events).toHaveLength(1);
  });

  test('[EXEC-9] [SEC-4] report a call as unknown when its server was killed and its time is over', async () => {
    await using data = await temporaryDirectory();
    const killed = await spawnServer(['--data', data.path, '--database', database.url, '--issuer', issuer.issuer]);
    const user = killed.client(users[0].token);
    const { json } = await user.call('builtin:wait', { seconds: 300 }, { async: true, timeout_ms: 1 });
    const late = await user.call('builtin:wait', { seconds: 300 }, { async: true, timeout_ms: 500 });
    // The first has had its time before the server goes, so its answer was kept; the second had not.
    await until(async () => (await users[1].get(json.location)).json.status === 'timed_out');
    await killed[Symbol.asyncDispose]();
    const state = await until(async () => {
      const { json: seen } = await users[1].get(late.json.location);
      return seen.status !== 'running' && seen;
    });
    expect(['unknown', 'timed_out']).toContain(state.status);
    expect(state.answer.success).toBe(false);
  });
});

test.skipIf(!postgres.available)(
  '[BFF-7] a server that lost its database says so, refuses calls it could not record, and recovers by itself',
  async () => {
    await using database = await freshPostgresDatabase();
    await using proxy = await cuttableProxy(database.url);
    await using server = await startTestServer({ databaseUrl: proxy.url });
    const [alice, admin] = await Promise.all([server.as('alice'), server.as('admin')]);
    expect((await alice.call('builtin:uuid')).status).toBe(200);
    proxy.cut();
    expect(await server.client().get('/readyz')).toMatchObject({ status: 503, json: { code: 'SERVICE_UNAVAILABLE' } });
    expect((await server.client().get('/healthz')).status).toBe(200);
    // It ran, and nobody can say later that it did: that is neither a success nor a refusal, which a caller would send again.
    const called = await alice.call('builtin:uuid');
    expect(called).toMatchObject({ status: 200, json: { success: false, status: 'unknown', error: { code: 'SERVICE_UNAVAILABLE' } } });
    const kept = await alice.call('builtin:uuid', {}, {}, { 'idempotency-key': 'lost' });
    expect(kept).toMatchObject({ status: 503, json: { code: 'SERVICE_UNAVAILABLE' } });
    // What decides is in memory, so the list is still there.
    expect((await alice.listedNames()).length).toBeGreaterThan(0);
    expect(await admin.get('/api/groups')).toMatchObject({ status: 503, json: { code: 'SERVICE_UNAVAILABLE' } });
    proxy.mend();
    await until(async () => (await server.client().get('/readyz')).status === 200);
    const again = await until(async () => {
      const reply = await alice.call('builtin:uuid');
      return reply.status === 200 && reply;
    });
    expect((await admin.get(`/api/calls/${again.json.call_id}`)).json.status).toBe('completed');
  },
);
