import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groupSchema, policySchema } from '../../src/api.ts';
import type { ApiClient, Reply } from '../fixtures/api-client.ts';
import { documentedOperations, type Operation } from '../fixtures/documented-operations.ts';
import { startTestServer, type TestServer } from '../running-server.ts';

let server: TestServer;
let alice: ApiClient;
let admin: ApiClient;
let operations: Operation[];

beforeAll(async () => {
  server = await startTestServer();
  [alice, admin] = await Promise.all([server.as('alice'), server.as('admin')]);
  operations = await documentedOperations(server.url);
});
afterAll(() => server[Symbol.asyncDispose]());

const outcome = ({ status, json }: Reply) => ({ status, ...json });

function refusal(status: number, code: string, field?: string) {
  return { status, code, message: expect.any(String) as string, ...(field === undefined ? {} : { field }) };
}

describe('[BFF-6] without administrative rights', () => {
  const opened = ['GET /healthz', 'GET /readyz', 'GET /metrics', 'GET /api/openapi.json', 'GET /api/connections/callback/{source_id}'];
  /** Everybody's own. */
  const forCallers = /^\/api\/(bff\/|connections|me$|utcp$)/;
  const named = ({ method, path }: Operation) => `${method} ${path}`;
  const ask = (client: ApiClient, { method, path }: Operation, headers?: Record<string, string>) =>
    client.request(method, path.replaceAll(/\{\w+\}/g, 'x'), { headers, ...(method === 'GET' ? {} : { body: {} }) });

  test('only the public routes are open', () => {
    expect(
      operations
        .filter(({ open }) => open)
        .map(named)
        .sort(),
    ).toEqual([...opened].sort());
    expect(operations.length).toBeGreaterThan(20);
  });

  test('every other route refuses a request without a token with 401', async () => {
    for (const operation of operations.filter(({ open }) => !open)) {
      const { status, json } = await ask(server.client(), operation);
      expect([named(operation), status, json.code]).toEqual([named(operation), 401, 'UNAUTHENTICATED']);
      expect([named(operation), (await ask(server.client('not.a.token'), operation)).status]).toEqual([named(operation), 401]);
    }
  });

  test("[SEC-4] every administrative route refuses a user's token with 403, before it looks at anything else, and records it", async () => {
    const administrative = operations.filter(({ path, open }) => !open && !forCallers.test(path));
    expect(administrative.length).toBeGreaterThan(15);
    const { sub } = JSON.parse(Buffer.from(alice.token?.split('.')[1] ?? '', 'base64url').toString());
    for (const operation of administrative) {
      const { status, json } = await ask(alice, operation);
      expect([named(operation), status, json.code]).toEqual([named(operation), 403, 'FORBIDDEN']);
      const { refusals } = (await admin.get('/api/refusals?limit=1&kind=authorization')).json;
      const route = operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
      expect(refusals).toMatchObject([{ subject: sub, issuer: `${server.url}/dev`, method: operation.method, route, count: 1 }]);
      expect([named(operation), (await ask(admin, operation)).status]).not.toEqual([named(operation), 403]);
    }
  });
});

describe('[BFF-6] groups', () => {
  const group = {
    name: 'Time',
    description: 'Clocks',
    selectors: [{ tags: ['time'] }],
    include: ['builtin:uuid'],
    exclude: ['builtin:wait'],
  };

  test('can be created, read, replaced and deleted', async () => {
    const created = await admin.post('/api/groups', { id: 'clocks', ...group });
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe('/api/groups/clocks');
    // Tools that were named are kept as ids, so that nobody else can come to have the name.
    const idOf = async (name: string) => (await admin.get(`/api/tools/${name}`)).json.tool_id;
    const kept = { include: [await idOf('builtin:uuid')], exclude: [await idOf('builtin:wait')] };
    expect(groupSchema.parse(created.json)).toMatchObject({ id: 'clocks', ...group, ...kept });
    expect((await admin.get('/api/groups/clocks')).json).toEqual(created.json);
    expect((await admin.get('/api/groups')).json.groups).toContainEqual(created.json);

    const replaced = await admin.put('/api/groups/clocks', { name: 'Only ids' });
    expect(replaced.json).toMatchObject({ id: 'clocks', name: 'Only ids', description: '', selectors: [], include: [], exclude: [] });
    expect(replaced.json.created_at).toBe(created.json.created_at);

    expect(await admin.delete('/api/groups/clocks')).toMatchObject({ status: 204, text: '' });
    for (const reply of [
      await admin.get('/api/groups/clocks'),
      await admin.put('/api/groups/clocks', group),
      await admin.delete('/api/groups/clocks'),
    ]) {
      expect(outcome(reply)).toEqual(refusal(404, 'NOT_FOUND'));
    }
  });

  test('get an id when none is given', async () => {
    const { json } = await admin.post('/api/groups', group);
    expect(json.id).toMatch(/^[\da-f-]{36}$/);
    expect((await admin.delete(`/api/groups/${json.id}`)).status).toBe(204);
  });

  test('are refused with an id that is taken, or a bad expression', async () => {
    expect(outcome(await admin.post('/api/groups', { id: 'builtin-tools', name: 'Again' }))).toEqual(refusal(409, 'CONFLICT', 'id'));
    for (const regex of ['(', 'a(?=b)', '(a)\\1']) {
      expect(outcome(await admin.post('/api/groups', { name: 'Bad', selectors: [{ name: { regex } }] }))).toEqual(
        refusal(400, 'VALIDATION_ERROR', 'selectors'),
      );
    }
    const empty = await admin.post('/api/groups', { name: 'Bad', selectors: [{}] });
    expect(outcome(empty)).toEqual(refusal(400, 'VALIDATION_ERROR', 'selectors.0'));
  });

  test('are not deleted while a policy grants them', async () => {
    const refused = await admin.delete('/api/groups/builtin-tools');
    expect(outcome(refused)).toEqual(refusal(409, 'CONFLICT'));
    expect(refused.json.message).toContain('users-use-builtin-tools');
    expect((await alice.listedNames()).length).toBeGreaterThan(0);
  });
});

describe('[BFF-6] policies', () => {
  const policy = {
    name: 'Operations',
    matchers: [{ path: 'department', operator: 'equals', value: 'operations' }],
    groups: ['builtin-tools'],
  };

  test('can be created, read, replaced and deleted', async () => {
    const created = await admin.post('/api/policies', { id: 'operations', ...policy });
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe('/api/policies/operations');
    expect(policySchema.parse(created.json)).toMatchObject({ id: 'operations', enabled: true, description: '', ...policy });
    expect((await admin.get('/api/policies/operations')).json).toEqual(created.json);
    expect((await admin.get('/api/policies')).json.policies).toContainEqual(created.json);
    const replaced = await admin.put('/api/policies/operations', { ...policy, enabled: false });
    expect(replaced.json).toMatchObject({ id: 'operations', enabled: false, created_at: created.json.created_at });
    expect((await admin.delete('/api/policies/operations')).status).toBe(204);
    expect(outcome(await admin.delete('/api/policies/operations'))).toEqual(refusal(404, 'NOT_FOUND'));
    expect(outcome(await admin.put('/api/policies/operations', policy))).toEqual(refusal(404, 'NOT_FOUND'));
  });

  test('are refused with an id that is taken, an unknown group or a bad expression, and change nothing', async () => {
    const before = (await admin.get('/api/policies')).text;
    expect(outcome(await admin.post('/api/policies', { id: 'users-use-builtin-tools', name: 'Again' }))).toEqual(
      refusal(409, 'CONFLICT', 'id'),
    );
    const unknownGroup = { ...policy, groups: ['builtin-tools', 'not-there'] };
    expect(outcome(await admin.post('/api/policies', unknownGroup))).toEqual(refusal(400, 'VALIDATION_ERROR', 'groups.1'));
    expect(outcome(await admin.put('/api/policies/users-use-builtin-tools', unknownGroup))).toEqual(
      refusal(400, 'VALIDATION_ERROR', 'groups.1'),
    );
    const badExpression = { ...policy, matchers: [...policy.matchers, { path: 'sub', operator: 'matches', value: '(a+)+\\1' }] };
    expect(outcome(await admin.post('/api/policies', badExpression))).toEqual(refusal(400, 'VALIDATION_ERROR', 'matchers.1.value'));
    expect((await admin.get('/api/policies')).text).toBe(before);
  });

  test('[POL-5] take effect on the very next request', async () => {
    const { json } = await admin.get('/api/policies/users-use-builtin-tools');
    const { id: _id, created_at: _created, updated_at: _updated, managed_by: _managed, ...input } = json;
    for (let round = 0; round < 5; round++) {
      await admin.put('/api/policies/users-use-builtin-tools', { ...input, enabled: false });
      expect([(await alice.call('builtin:uuid')).status, await alice.listedNames()]).toEqual([404, []]);
      await admin.put('/api/policies/users-use-builtin-tools', { ...input, enabled: true });
      expect((await alice.call('builtin:uuid')).status).toBe(200);
    }
  });

  test('[POL-3] can be explained for claims and for a token', async () => {
    const explain = (body: object) => admin.post('/api/policies/explain', body);
    const granted = (await explain({ token: alice.token, tool: 'builtin:uuid' })).json;
    expect(granted).toMatchObject({
      subject: expect.any(String),
      administrator: false,
      decision: { tool: 'builtin:uuid', allowed: true },
      policies: [{ id: 'users-use-builtin-tools', grants: true, matchers: [{ holds: true }] }],
    });
    expect(granted.tools).toEqual(await alice.listedNames());
    const denied = (await explain({ claims: { sub: 'x' }, tool: 'builtin:uuid' })).json;
    expect(denied).toMatchObject({ decision: { allowed: false, reason: 'no policy grants it' }, tools: [] });
    expect(denied.policies[0].matchers[0]).toMatchObject({ holds: false, reason: 'the claim is missing' });
    expect((await explain({ claims: {}, tool: 'no:where' })).json.decision.reason).toBe('there is no such tool');
    expect(outcome(await explain({ token: 'x.y.z' }))).toEqual(refusal(400, 'VALIDATION_ERROR', 'token'));
    expect(outcome(await explain({}))).toEqual(refusal(400, 'VALIDATION_ERROR', 'token'));
    expect(outcome(await explain({ token: alice.token, claims: {} }))).toEqual(refusal(400, 'VALIDATION_ERROR', 'token'));
  });
});

test('two administrators who change one tool at once both succeed', async () => {
  const path = '/api/tools/builtin:text_diff';
  for (let round = 0; round < 10; round++) {
    await Promise.all([
      admin.patch(path, { hidden: true }),
      admin.patch(path, { description: `Round ${round}` }),
      admin.patch(path, { labels: { round: String(round) } }),
    ]);
    expect((await admin.get(path)).json).toMatchObject({
      state: 'hidden',
      description: `Round ${round}`,
      labels: { round: String(round) },
    });
    await admin.patch(path, { hidden: false });
  }
});

test('[BFF-6] sources are listed with their state', async () => {
  const { json } = await admin.get('/api/sources');
  const active = (await admin.get('/api/tools?state=active&limit=1000')).json.total;
  expect(json.sources).toMatchObject([{ namespace: 'builtin', source_type: 'builtin', status: { state: 'running', tools: active } }]);
  expect((await admin.get(`/api/sources/${json.sources[0].id}`)).json).toEqual(json.sources[0]);
  expect(outcome(await admin.get('/api/sources/nowhere'))).toEqual(refusal(404, 'NOT_FOUND'));
});
