import { afterAll, beforeAll, expect, test } from 'vitest';
import { callRecordListSchema, changeEventListSchema } from '../../src/api.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startTestServer, until, type TestServer } from '../running-server.ts';

let server: TestServer;
let alice: ApiClient;
let bob: ApiClient;
let admin: ApiClient;

beforeAll(async () => {
  server = await startTestServer();
  [alice, bob, admin] = await Promise.all([server.as('alice'), server.as('bob'), server.as('admin')]);
});
afterAll(() => server[Symbol.asyncDispose]());

test('[BFF-6] [SEC-4] every call and denial is recorded once, with who, what, why and how it ended', async () => {
  const done = (await alice.call('builtin:hash', { text: 'a secret canary' })).json;
  await alice.call('builtin:hash', { text: 5 });
  await bob.call('nowhere:nothing', { text: 'a secret canary' });
  const { calls } = callRecordListSchema.parse((await admin.get('/api/calls')).json);
  const [unknown, refused, completed] = calls;
  const { json: tool } = await admin.get('/api/tools/builtin:hash');
  const ofTool = { tool: 'builtin:hash', tool_id: tool.tool_id, source_id: tool.source_id, definition_hash: tool.definition_hash };
  expect(completed).toMatchObject({
    ...ofTool,
    call_id: done.call_id,
    issuer: `${server.url}/dev`,
    client: 'toolcrib-cli',
    user_name: 'alice',
    policies: 'users-use-builtin-tools',
    status: 'completed',
    error_code: null,
  });
  expect(completed?.policy_revision).toBeGreaterThan(0);
  expect(refused).toMatchObject({ ...ofTool, subject: completed?.subject, status: 'failed', error_code: 'VALIDATION_ERROR' });
  expect(unknown).toMatchObject({ tool: 'nowhere:nothing', tool_id: null, policies: '', status: 'failed', error_code: 'NOT_FOUND' });
  expect(unknown?.subject).not.toBe(completed?.subject);
  expect(unknown?.user_name).toBe('bob');
  expect((await bob.get('/api/me')).json).toMatchObject({ subject: unknown?.subject, name: 'bob' });
  expect(calls).toHaveLength(3);
  expect((await admin.get(`/api/calls/${done.call_id}`)).json).toEqual(completed);
  // Neither arguments nor results are kept.
  expect(JSON.stringify(calls)).not.toContain('canary');
  expect(JSON.stringify(calls)).not.toContain(done.result.digest);
});

test('[BFF-6] the record can be filtered, and read page by page from newest to oldest', async () => {
  for (let count = 0; count < 7; count++) await bob.call('builtin:uuid');
  const { subject } = (await admin.get('/api/calls?limit=1')).json.calls[0];
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { json } = await admin.get(`/api/calls?subject=${subject}&tool=builtin:uuid&limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
    ids.push(...json.calls.map(({ call_id }: { call_id: string }) => call_id));
    // New calls belong in front of the first page and move nothing.
    await bob.call('builtin:uuid');
    cursor = json.next_cursor;
  }
  expect(ids).toHaveLength(7);
  expect(ids).toEqual([...ids].sort().reverse());
  expect((await admin.get('/api/calls?subject=nobody')).json).toMatchObject({ calls: [], next_cursor: null });
  const failed = (await admin.get('/api/calls?status=failed')).json.calls;
  expect(new Set(failed.map(({ status }: { status: string }) => status))).toEqual(new Set(['failed']));
});

test('[BFF-6] calls can be searched by status, time, tool, source and person', async () => {
  const from = Date.now();
  await alice.call('builtin:uuid');
  await alice.call('builtin:hash', { text: 5 });
  await bob.call('builtin:uuid');
  const { json: tool } = await admin.get('/api/tools/builtin:uuid');
  const list = async (query: string) => {
    const { calls } = callRecordListSchema.parse((await admin.get(`/api/calls?from=${from}&${query}`)).json);
    return calls.map((call) => `${call.user_name} ${call.tool} ${call.status}`);
  };
  const [aliceUuid, aliceHash, bobUuid] = ['alice builtin:uuid completed', 'alice builtin:hash failed', 'bob builtin:uuid completed'];
  expect(await list('')).toEqual([bobUuid, aliceHash, aliceUuid]);
  expect(await list('user=alice')).toEqual([aliceHash, aliceUuid]);
  expect(await list('status=failed,timed_out')).toEqual([aliceHash]);
  for (const name of ['builtin:uuid', 'builtin.uuid', tool.tool_id]) expect(await list(`tool=${name}`)).toEqual([bobUuid, aliceUuid]);
  for (const name of ['builtin', tool.source_id]) expect(await list(`source=${name}&user=bob`)).toEqual([bobUuid]);
  expect(await list('source=3f2b7c1e-0000-4000-8000-000000000000')).toEqual([]);
  expect(await list(`until=${from}`)).toEqual([]);
  const refused = async (query: string) => {
    const { status, json } = await admin.get(`/api/calls?${query}`);
    return [status, json.field];
  };
  expect(await refused('status=broken')).toEqual([400, 'status']);
  expect(await refused('from=yesterday')).toEqual([400, 'from']);
  expect(await refused('follow=???')).toEqual([400, 'follow']);
  expect(await refused('follow=ZW5kZWQ&cursor=IiI')).toEqual([400, 'follow']);
  expect(await refused('source=nowhere')).toEqual([404, 'source']);
  expect((await alice.get('/api/calls')).status).toBe(403);
});

test('[BFF-6] calls can be followed as they end, even those that began long before', async () => {
  let follow = (await admin.get('/api/calls?limit=1')).json.follow_cursor;
  const ended = async (query = '') => {
    const { calls, follow_cursor } = callRecordListSchema.parse((await admin.get(`/api/calls?follow=${follow}${query}`)).json);
    follow = follow_cursor;
    return calls.map(({ call_id }) => call_id);
  };
  expect(await ended()).toEqual([]);
  const { json: long } = await alice.call('builtin:wait', { seconds: 300 }, { async: true });
  const { json: short } = await bob.call('builtin:uuid');
  expect(await ended()).toEqual([short.call_id]);
  await alice.delete(long.location);
  await until(async () => (await alice.get(long.location)).json.status === 'cancelled');
  await bob.call('builtin:uuid');
  expect(await ended('&user=alice&status=cancelled')).toEqual([long.call_id]);
  expect(await ended()).toEqual([]);
});

test('[BFF-6] [SEC-4] every change is recorded with its author, and what was there before and after', async () => {
  const group = { id: 'recorded', name: 'First name' };
  const created = (await admin.post('/api/groups', group)).json;
  const changed = (await admin.put('/api/groups/recorded', { name: 'Second name' })).json;
  await admin.delete('/api/groups/recorded');
  await admin.post('/api/groups', { id: 'recorded', name: '' });
  await admin.patch('/api/tools/builtin:uuid', { labels: { a: 'b' } });
  await admin.patch('/api/tools/builtin:uuid', { hidden: true });
  const policy = { id: 'recorded', name: 'Policy', matchers: [], groups: [] };
  const createdPolicy = (await admin.post('/api/policies', policy)).json;
  await admin.delete('/api/policies/recorded');

  const { events } = changeEventListSchema.parse((await admin.get('/api/events?limit=7')).json);
  const { claims } = { claims: JSON.parse(Buffer.from(admin.token?.split('.')[1] ?? '', 'base64url').toString()) };
  const by = { actor: `${server.url}/dev ${claims.sub}`, client: 'toolcrib-cli', address: '127.0.0.1', actor_name: 'admin' };
  const { tool_id } = (await admin.get('/api/tools/builtin:uuid')).json;
  expect(events.map(({ id: _id, at: _at, ...event }) => event).reverse()).toEqual([
    { kind: 'group-created', topic: 'group', subject: 'recorded', ...by, before: null, after: created },
    { kind: 'group-changed', topic: 'group', subject: 'recorded', ...by, before: created, after: changed },
    { kind: 'group-deleted', topic: 'group', subject: 'recorded', ...by, before: changed, after: null },
    { kind: 'tool-overridden', topic: 'tool', subject: tool_id, ...by, before: {}, after: { labels: { a: 'b' } } },
    {
      kind: 'tool-overridden',
      topic: 'tool',
      subject: tool_id,
      ...by,
      before: { labels: { a: 'b' } },
      after: { labels: { a: 'b' }, hidden: true },
    },
    { kind: 'policy-created', topic: 'policy', subject: 'recorded', ...by, before: null, after: createdPolicy },
    { kind: 'policy-deleted', topic: 'policy', subject: 'recorded', ...by, before: createdPolicy, after: null },
  ]);

  const groups = (await admin.get('/api/events?topic=group&limit=2')).json;
  expect(groups.events.map(({ kind }: { kind: string }) => kind)).toEqual(['group-deleted', 'group-changed']);
  const next = (await admin.get(`/api/events?topic=group&limit=1&cursor=${groups.next_cursor}`)).json;
  expect(next.events[0].kind).toBe('group-created');
});

test('[SEC-4] two changes at once are each recorded with what they really replaced', async () => {
  await admin.post('/api/groups', { id: 'raced', name: '0' });
  const names = Array.from({ length: 8 }, (_, index) => `${index + 1}`);
  await Promise.all(names.map((name) => admin.put('/api/groups/raced', { name })));
  const { events } = (await admin.get('/api/events?topic=group&limit=8')).json;
  for (let index = 0; index + 1 < events.length; index++) expect(events[index].before).toEqual(events[index + 1].after);
});
