import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startHttpServer, type RunningServer } from '../fixtures/http-server.ts';
import { fixture } from '../fixtures/open-server.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { adminClaims, startTestServer, type TestServer, until } from '../running-server.ts';

const postgres = part('postgres');
const privileged = { ApiVersion: '1.47', Id: 'b0', Name: '/box', State: { Running: true }, Config: {}, HostConfig: { Privileged: true } };
const staff = { realm_access: { roles: ['staff'] } };
const staffOnly = [{ path: 'realm_access.roles', operator: 'contains', value: 'staff' }];
const clocks = { name: 'Clocks', selectors: [{ source: 'builtin', name: 'current_time' }] };

const eventsOf = async (admin: ApiClient) => (await admin.get('/api/events?limit=1000')).json.events.length as number;
const actionsIn = (json: { changes: { kind: string; id: string; action: string }[] }) =>
  json.changes.map(({ kind, id, action }) => `${action} ${kind} ${id}`);

describe('[SRC-6] configuration as code', () => {
  /** Speaks as Docker does, of one container in which nobody may start servers: that is found out when a source is saved. */
  let engine: RunningServer;
  let server: TestServer;
  let admin: ApiClient;
  const plan = (wished: object) => admin.post('/api/config/plan', wished);
  const apply = (wished: object, query = '') => admin.post(`/api/config/apply${query}`, wished);

  beforeAll(async () => {
    engine = await startHttpServer((_request, response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(privileged)),
    );
    server = await startTestServer({ dockerHost: `tcp://127.0.0.1:${engine.port}` });
    admin = await server.as('admin');
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await engine[Symbol.asyncDispose]();
  });

  const everything = {
    sources: { files: { mcp_command: fixture(), mcp_lifecycle_mode: 'singleton', mcp_env_vars: { REGION: 'north' } } },
    groups: { clocks, echoing: { include: ['files:echo', 'builtin:uuid'] } },
    policies: { 'staff-use': { matchers: staffOnly, groups: ['clocks', 'echoing'] } },
    tests: [
      { name: 'Staff', claims: staff, can: ['builtin:current_time', 'builtin:uuid'], cannot: ['builtin:calc*'] },
      { name: 'Staff echo', claims: staff, can: ['files:echo'], cannot: ['files:slow'] },
    ],
  };

  test('shows in a plan what would be done, field by field, and changes nothing', async () => {
    const before = await eventsOf(admin);
    const { status, json } = await plan(everything);
    expect([status, actionsIn(json)]).toEqual([
      200,
      ['create source files', 'create group clocks', 'create group echoing', 'create policy staff-use'],
    ]);
    expect(json.changes[0].fields).toContainEqual({ field: 'environment.REGION', before: null, after: 'north' });
    expect(json.changes[2].fields).toContainEqual({ field: 'include', before: null, after: ['files:echo', 'builtin:uuid'] });
    expect(json.tests).toEqual([
      { name: 'Staff', outcome: 'passed', reasons: [] },
      { name: 'Staff echo', outcome: 'unknown', reasons: ['the tools of files are not known yet'] },
    ]);
    expect(await eventsOf(admin)).toBe(before);
  });

  test('is applied, marked and recorded with its author, and changes nothing the second time', async () => {
    const { json } = await apply(everything);
    expect(json.changes.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['done', 'done', 'done', 'done']);
    const { json: source } = await admin.get('/api/sources/files');
    expect(source).toMatchObject({ name: 'files', managed_by: 'file' });
    expect((await admin.get('/api/policies/staff-use')).json).toMatchObject({ name: 'staff-use', managed_by: 'file' });
    const { json: events } = await admin.get('/api/events?limit=1000');
    const made = events.events.find(
      ({ subject, kind }: { subject: string; kind: string }) => subject === 'staff-use' && kind.endsWith('created'),
    );
    expect(made.actor).toContain('/dev ');

    await until(async () => (await admin.get('/api/sources/files')).json.status.state === 'running');
    const count = await eventsOf(admin);
    const again = await apply(everything);
    expect(again.json).toEqual({ changes: [], tests: everything.tests.map(({ name }) => ({ name, outcome: 'passed', reasons: [] })) });
    expect(await eventsOf(admin)).toBe(count);
    expect((await plan(everything)).json.changes).toEqual([]);
  });

  test('allows a change by hand, and the next plan shows it', async () => {
    await admin.put('/api/policies/staff-use', { name: 'staff-use', matchers: staffOnly, groups: ['clocks'] });
    await admin.patch('/api/sources/files', { enabled: false });
    const { json } = await plan(everything);
    expect(json.changes).toMatchObject([
      { kind: 'source', id: 'files', action: 'change', fields: [{ field: 'enabled', before: false, after: true }] },
      {
        kind: 'policy',
        id: 'staff-use',
        action: 'change',
        fields: [{ field: 'groups', before: ['clocks'], after: ['clocks', 'echoing'] }],
      },
    ]);
    await apply(everything);
    expect((await admin.get('/api/policies/staff-use')).json.groups).toEqual(['clocks', 'echoing']);
  });

  test('carries out exactly the plan that was seen, or nothing', async () => {
    const { json } = await plan({ ...everything, groups: { ...everything.groups, more: {} } });
    const other = { ...everything, groups: { ...everything.groups, others: {} } };
    expect((await apply(other, `?fingerprint=${json.fingerprint}`)).json).toMatchObject({ code: 'CONFLICT', field: 'fingerprint' });
    expect((await admin.get('/api/groups/others')).status).toBe(404);
  });

  test('changes nothing while a test fails, and says which and why', async () => {
    const tests = [{ name: 'Nobody reads clocks', claims: staff, cannot: ['builtin:current_*'], can: ['builtin:nothing'] }];
    const wished = { ...everything, groups: { ...everything.groups, more: {} }, tests };
    const reasons = ['can builtin:nothing: there is no such tool', 'cannot builtin:current_time: it is granted by staff-use'];
    expect((await plan(wished)).json.tests).toEqual([{ name: 'Nobody reads clocks', outcome: 'failed', reasons }]);
    const refused = await apply(wished);
    expect([refused.status, refused.json.code]).toEqual([409, 'CONFLICT']);
    expect(refused.json.message).toContain('Nobody reads clocks');
    expect((await admin.get('/api/groups/more')).status).toBe(404);
  });

  test('adopts what others made when the file names it, and never deletes it otherwise', async () => {
    await admin.post('/api/groups', { id: 'by-hand', name: 'By hand' });
    await admin.post('/api/groups', { id: 'left-alone', name: 'Left alone' });
    const wished = { ...everything, groups: { ...everything.groups, 'by-hand': { name: 'By hand' } } };
    expect((await plan(wished)).json.changes).toEqual([{ kind: 'group', id: 'by-hand', action: 'adopt', fields: [] }]);
    await apply(wished);
    expect(actionsIn((await plan(everything)).json)).toEqual(['delete group by-hand']);
  });

  test("does not delete a group that somebody else's policy still grants", async () => {
    await admin.post('/api/policies', { id: 'by-hand', name: 'By hand', matchers: staffOnly, groups: ['clocks'] });
    const refused = await plan({});
    expect(refused.json).toMatchObject({ code: 'CONFLICT', field: 'groups.clocks' });
    await admin.delete('/api/policies/by-hand');
  });

  test('deletes what is no longer in the file: policies first, sources last', async () => {
    const { json } = await apply({});
    expect(actionsIn(json)).toEqual([
      'delete policy staff-use',
      'delete group by-hand',
      'delete group clocks',
      'delete group echoing',
      'delete source files',
    ]);
    expect((await admin.get('/api/sources/files')).status).toBe(404);
    expect((await admin.get('/api/groups/left-alone')).status).toBe(200);
  });

  test('names a source that cannot be saved, skips what depends on it, and finishes the second time', async () => {
    const boxed = { mcp_container: { container: 'box', command: ['serve'] } };
    const groups = { inside: { include: ['boxed:read'] }, clocks };
    const first = await apply({ sources: { boxed, files: { mcp_command: fixture() } }, groups, policies: { later: {} } });
    expect(first.json.changes.map(({ id, outcome }: { id: string; outcome: string }) => [id, outcome])).toEqual([
      ['boxed', 'failed'],
      ['files', 'done'],
      ['inside', 'failed'],
      ['clocks', 'not_tried'],
      ['later', 'not_tried'],
    ]);
    expect(first.json.changes[0].error.message).toContain('privileged');
    const second = await apply({ sources: { files: { mcp_command: fixture() } }, groups: { clocks }, policies: { later: {} } });
    expect(second.json.changes.map(({ id, outcome }: { id: string; outcome: string }) => [id, outcome])).toEqual([
      ['clocks', 'done'],
      ['later', 'done'],
    ]);
    await apply({});
  });

  const literal: [string, object, string][] = [
    ['a credential', { mcp_server_url: 'https://x.test/mcp', credential: { type: 'bearer', token: 'abc' } }, 'credential.token'],
    ['a variable by its name', { mcp_command: ['node'], mcp_env_vars: { API_KEY: 'abc' } }, 'mcp_env_vars.API_KEY'],
    ['a value by its looks', { mcp_command: ['node'], mcp_env_vars: { X: 'ghp_0123456789abcdef' } }, 'mcp_env_vars.X'],
    ['a header', { mcp_server_url: 'https://x.test/mcp', headers: { Authorization: 'Bearer abc' } }, 'headers.Authorization'],
    ['a variable declared as secret', { mcp: { env_vars: { X: { value: 'abc', is_secret: true } } } }, 'mcp.env_vars.X'],
    ['a place for a secret', { mcp_command: ['node'], mcp_env_vars: { X: '***' } }, 'mcp_env_vars.X'],
    [
      'a key as the user name',
      { mcp_server_url: 'https://mcp.example.org/mcp', credential: { type: 'basic', username: 'abc', password: '' } },
      'credential.username',
    ],
    ['a part of the configuration', { mcp_command: ['node'], mcp_config: { auth: { password: 'abc' } } }, 'mcp_config.auth.password'],
  ];
  test.each(literal)('does not allow a secret in a file: %s', async (_what, source, field) => {
    const { status, json } = await plan({ sources: { one: source } });
    expect([status, json.field]).toEqual([400, `sources.one.${field}`]);
    expect(json.message).toContain('toolcrib secrets set');
    expect(JSON.stringify(json)).not.toContain('abc');
  });

  test('refuses a secret in a command too, but not the name of one', async () => {
    const { json } = await plan({ sources: { one: { mcp_command: ['node', 'x.js', '--api-key', 'abcdef0123'] } } });
    expect(json.message).toMatch(/^sources.one: .* is a secret/);
    const named = {
      mcp_server_url: 'https://x.test/mcp',
      credential: { type: 'bearer', token: { secret_ref: 'x' } },
      headers: { 'X-Key': '${KEY}' },
    };
    expect((await plan({ sources: { one: named } })).json.changes[0].fields).toContainEqual({
      field: 'credential.token',
      before: null,
      after: { secret_ref: 'x' },
    });
  });

  const refusals: [object, string][] = [
    [{ sources: { builtin: { mcp_command: ['x'] } } }, 'sources.builtin'],
    [{ sources: { 'Bad Name': { mcp_command: ['x'] } } }, 'sources.Bad Name'],
    [{ sources: { one: { mcp_command: ['x'], nonsense: 1 } } }, 'sources.one.nonsense'],
    [{ sources: { one: {} } }, 'sources.one.mcp_plugin_dir'],
    [{ groups: { one: { include: ['nobody:knows'] } } }, 'groups.one.include.0'],
    [{ groups: { one: { selectors: [{ name: { regex: '(' } }] } } }, 'groups.one.selectors'],
    [{ policies: { one: { groups: ['nothing'] } } }, 'policies.one.groups.0'],
    [{ policies: { one: { matchers: [{ path: 'a', operator: 'matches', value: '(' }] } } }, 'policies.one.matchers.0.value'],
    [{ tests: [{ claims: {} }] }, 'tests.0.name'],
    [{ server: {} }, 'server'],
  ];
  test.each(refusals)('refuses a mismatch with its place: %j', async (wished, field) => {
    const refused = await plan(wished);
    expect([refused.status, refused.json.field]).toEqual([400, field]);
  });

  test('is refused for anyone but administrators', async () => {
    const alice = await server.as('alice');
    expect([(await alice.post('/api/config/plan', {})).status, (await alice.post('/api/config/apply', {})).status]).toEqual([403, 403]);
  });
});

describe.skipIf(!postgres.available)('[SRC-6] two servers with the same file on one PostgreSQL', () => {
  test('make everything once', async () => {
    await using database = await freshPostgresDatabase();
    await using issuer = await startTokenIssuer();
    const config = { databaseUrl: database.url, issuers: [issuer.config] };
    await using first = await startTestServer(config);
    await using second = await startTestServer(config);
    const token = await issuer.sign(adminClaims);
    const admins = [first.client(token), second.client(token)] as const;
    const before = await eventsOf(admins[0]);
    const wished = {
      groups: Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`group-${index}`, clocks])),
      policies: { staff: { matchers: staffOnly, groups: ['group-0'] } },
    };
    const answers = await Promise.all([...admins, ...admins].map((admin) => admin.post('/api/config/apply', wished)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(answers.map(({ json }) => json.changes.length).sort((a, b) => a - b)).toEqual([0, 0, 0, 11]);
    expect(await eventsOf(admins[0])).toBe(before + 11);
  });
});
