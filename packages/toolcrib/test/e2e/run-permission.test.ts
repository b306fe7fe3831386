import { existsSync, readdirSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runRulesSchema } from '../../src/model/run-rules.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { fixture } from '../fixtures/open-server.ts';
import { adminClaims as runnerClaims, startServerWithIssuer, startTestServer, temporaryDirectory, userClaims } from '../running-server.ts';

/** An administrator, and no more. */
const adminClaims = { sub: 'admin-2', realm_access: { roles: ['toolcrib-user', 'toolcrib-admin'] } };
const [node = '', program = ''] = fixture();
const rules = runRulesSchema.parse({
  runtimes: ['node', 'npx', 'docker'],
  programs: [node, program, '/opt/mcp/*'],
  images: ['mcp/*'],
  same_user: true,
});

describe('in production', () => {
  let production: Awaited<ReturnType<typeof startServerWithIssuer>>;
  let admin: ApiClient;
  let runner: ApiClient;

  beforeAll(async () => {
    production = await startServerWithIssuer({ runRules: rules });
    admin = await production.signedIn(adminClaims);
    runner = await production.signedIn(runnerClaims);
  });
  afterAll(() => production[Symbol.asyncDispose]());

  const local = (name: string) => ({ name, mcp_command: fixture('plain') });
  const registered = async () => (await admin.get('/api/sources')).json.sources.map(({ namespace }: { namespace: string }) => namespace);
  const processes = () => readdirSync(join(production.server.dataDir, 'processes'));

  test('[SEC-2] the API tells everybody what they may do', async () => {
    const may = async (claims: object) => {
      const { administrator, may_run } = (await (await production.signedIn({ ...claims })).get('/api/me')).json;
      return [administrator, may_run];
    };
    expect(await may(userClaims)).toEqual([false, false]);
    expect(await may(adminClaims)).toEqual([true, false]);
    expect(await may(runnerClaims)).toEqual([true, true]);
    // The one is of no use without the other.
    expect(await may({ sub: 'x', realm_access: { roles: ['toolcrib-run'] } })).toEqual([false, false]);
    expect((await production.server.client().get('/api/me')).status).toBe(401);
  });

  test.each<[form: string, body: object]>([
    ['a command', { mcp_command: fixture('plain') }],
    ['a package', { mcp: { package: { package_type: 'npm', identifier: 'server' }, transport: { type: 'stdio' } } }],
    ['a docker package', { mcp: { package: { package_type: 'docker', identifier: 'mcp/x' }, transport: { type: 'stdio' } } }],
    ['a container', { mcp_container: { container: 'x', command: ['server'] } }],
    ['an image', { mcp_container: { image: 'mcp/x', command: ['server'] } }],
    ['a variable that decides what is run', { mcp_command: fixture('plain'), mcp_env_vars: { PYTHONPATH: '/x' } }],
    ['a command that is disabled', { mcp_command: fixture('plain'), enabled: false }],
  ])('[SEC-2] [ENV-6] an administrator without the permission may neither register nor preview %s', async (_form, body) => {
    const form = { name: 'Not mine', ...body };
    const before = await registered();
    for (const path of ['/api/sources', '/api/sources/preview?discover=true']) {
      const { status, json } = await admin.post(path, form);
      expect([path, status, json.code]).toEqual([path, 403, 'FORBIDDEN']);
      expect(json.message).toContain('your token lacks "toolcrib-run" in its claim realm_access.roles');
    }
    // To see what it would come to starts nothing, and says that it could not be registered.
    expect((await admin.post('/api/sources/preview', form)).json).toMatchObject({ tools: null, error: { code: 'FORBIDDEN' } });
    expect(await registered()).toEqual(before);
    expect(processes()).toEqual([]);
  });

  test('[SEC-2] [SRC-4] an import refuses only the servers that would be started', async () => {
    const [command = '', ...args] = fixture('plain');
    // Disabled, so that nobody tries to reach it.
    const mcpServers = { started: { command, args }, far: { url: 'https://far.example.test/mcp', disabled: true } };
    const { json } = await admin.post('/api/sources/import', { mcpServers });
    expect(json.entries).toMatchObject([
      { outcome: 'refused', source: null, error: { code: 'FORBIDDEN', message: expect.stringContaining('toolcrib-run') } },
      { outcome: 'registered', source: { namespace: 'far' } },
    ]);
    // Neither is what somebody else has registered replaced by them.
    await runner.post('/api/sources', { ...local('started'), enabled: false });
    const again = await admin.post('/api/sources/import?update=true', { mcpServers: { started: { command, args: [...args, 'x'] } } });
    expect(again.json.entries).toMatchObject([{ outcome: 'refused', error: { code: 'FORBIDDEN' } }]);
    for (const namespace of ['started', 'far']) await runner.delete(`/api/sources/${namespace}`);
    expect(processes()).toEqual([]);
  });

  test('[SEC-2] an administrator without the permission may still add remote servers', async () => {
    // Disabled, so that nobody tries to reach it.
    const elsewhere = { name: 'Remote', mcp_server_url: 'https://tools.example.test/mcp', enabled: false };
    const { status, json } = await admin.post('/api/sources', elsewhere);
    expect([status, json.namespace]).toEqual([201, 'remote']);
    const changed = await admin.put(`/api/sources/${json.id}`, local('Remote'));
    expect([changed.status, changed.json.code]).toEqual([403, 'FORBIDDEN']);
    expect((await admin.delete(`/api/sources/${json.id}`)).status).toBe(204);
  });

  test('[SEC-2] servers registered with the permission may be started by every administrator, and not changed', async () => {
    const { status, json } = await runner.post('/api/sources?wait=20000', local('Echo'));
    expect([status, json.status.state]).toEqual([201, 'running']);
    const at = `/api/sources/${json.id}`;
    const command = async () => (await admin.get(at)).json.definition.command;
    const before = await command();
    expect((await admin.put(at, { name: 'Echo', mcp_command: fixture('pages') })).status).toBe(403);
    expect(await command()).toEqual(before);
    const states = [];
    for (const action of ['stop', 'start', 'restart', 'refresh']) states.push((await admin.post(`${at}/${action}`, undefined)).status);
    for (const enabled of [false, true]) states.push((await admin.patch(at, { enabled })).status);
    expect(states).toEqual([200, 200, 200, 200, 200, 200]);
    expect((await admin.delete(at)).status).toBe(204);
  });

  test('[SEC-2] the rules apply even with the permission', async () => {
    const { status, json } = await runner.post('/api/sources', { name: 'Evil', mcp_command: ['npx', 'evil'] });
    expect([status, json]).toEqual([403, expect.objectContaining({ message: expect.stringContaining('npm:evil') })]);
    const tried = await runner.post('/api/sources/preview?discover=true', { name: 'Evil', mcp_command: [node, '/tmp/evil.js'] });
    expect(tried.json).toMatchObject({ tools: null, error: { code: 'FORBIDDEN', message: expect.stringContaining('/tmp/evil.js') } });
    expect(processes()).toEqual([]);
  });
});

test('[SEC-2] without rules nothing runs in production, and existing sources stay, stopped, with the reason', async () => {
  await using directory = await temporaryDirectory();
  const dataDir = await realpath(directory.path);
  const marker = join(dataDir, 'ran');
  {
    await using server = await startTestServer({ dataDir });
    const admin = await server.as('admin');
    const { json } = await admin.post('/api/sources?wait=20000', {
      name: 'Echo',
      mcp_command: fixture('plain'),
      mcp_lifecycle_mode: 'singleton',
    });
    expect(json.status.state).toBe('running');
  }
  await using production = await startServerWithIssuer({ dataDir });
  const runner = await production.signedIn(runnerClaims);
  const { status, json } = await runner.post('/api/sources', { name: 'New', mcp_command: [...fixture('plain'), marker] });
  expect([status, json.code]).toEqual([403, 'FORBIDDEN']);
  expect(json.message).toContain('toolcrib serve --run-rules FILE');
  const started = await runner.post('/api/sources/echo/start', undefined);
  expect([started.status, started.json.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  const { status: shown } = (await runner.get('/api/sources/echo')).json;
  expect(shown).toMatchObject({ state: 'error', code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('--run-rules FILE') });
  expect(existsSync(marker)).toBe(false);
});

test('[SEC-2] every administrator may run anything in development', async () => {
  await using server = await startTestServer();
  expect((await (await server.as('admin')).get('/api/me')).json).toMatchObject({ administrator: true, may_run: true });
  expect((await (await server.as('alice')).get('/api/me')).json).toMatchObject({ administrator: false, may_run: false });
});
