import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { until } from '../running-server.ts';

let server: OpenServer;
let admin: ApiClient;
let alice: ApiClient;

beforeAll(async () => {
  server = await startOpenServer();
  ({ admin, alice } = server);
});

afterAll(() => server[Symbol.asyncDispose]());

const register = (body: object) => admin.post('/api/sources?wait=30000', body);
const stateOf = async (id: string) => (await admin.get(`/api/sources/${id}`)).json.status.state as string;

describe('[SRC-1] a local server', () => {
  test('[SRC-9] [MC-T1] [MC-T3] [MC-T4] is started, and its tools are listed and can be called', async () => {
    const { status, json } = await register({ name: 'Plain', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' });
    expect([status, json.status.state, json.health]).toEqual([201, 'running', 'healthy']);
    expect(await alice.listedNames()).toContain('plain:echo');
    const called = await alice.call('plain:echo', { text: 'hello' });
    expect(called).toMatchObject({ status: 200, json: { success: true, text: 'hello' } });
  });

  test('[MCP-5] has a new process for every call if it is transient', async () => {
    await register({ name: 'Fresh', mcp_command: fixture('plain') });
    expect(await alice.call('fresh:echo', { text: 'once' })).toMatchObject({ json: { success: true, text: 'once' } });
    expect(await alice.call('fresh:echo', { text: 'twice' })).toMatchObject({ json: { success: true, text: 'twice' } });
  });

  test('[MCP-6] serves each call from a process that was ready before it, with standbys', async () => {
    await register({ name: 'Ready', mcp_command: fixture('plain'), standby: 2 });
    for (const text of ['a', 'b', 'c']) expect(await alice.call('ready:echo', { text })).toMatchObject({ json: { text } });
  });

  test('[MC-T2] [MC-T9] [LIFE-2] is off every list while it is stopped, and back when it is started', async () => {
    await register({ name: 'Stopped', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' });
    expect((await admin.post('/api/sources/stopped/stop', undefined)).json.status).toEqual({ state: 'stopped' });
    expect(await alice.listedNames()).not.toContain('stopped:echo');
    expect((await alice.call('stopped:echo', { text: 'x' })).status).toBe(404);
    expect((await admin.post('/api/sources/stopped/start', undefined)).json.status.state).toBe('running');
    expect(await alice.call('stopped:echo', { text: 'x' })).toMatchObject({ json: { text: 'x' } });
    expect((await admin.post('/api/sources/stopped/restart', undefined)).json.status.state).toBe('running');
    expect((await admin.post('/api/sources/stopped/refresh', undefined)).json.status.state).toBe('running');
  });

  test('[SRC-9] [MC-T5] [LIFE-8] that dies in the handshake is kept with its error and disturbs nobody else', async () => {
    const { status, json } = await register({ name: 'Broken', mcp_command: fixture('crash-handshake', '3', 'no licence') });
    expect([status, json.status.state]).toEqual([201, 'error']);
    expect(json.status.message).toContain('no licence');
    expect(await alice.call('plain:echo', { text: 'fine' })).toMatchObject({ json: { text: 'fine' } });
    const { lines } = (await admin.get('/api/sources/broken/logs')).json;
    // Said once, however often it is explained.
    expect(lines.filter(({ text }: { text: string }) => text.includes('no licence'))).toHaveLength(1);
  });

  test('[MC-NT1] [LIFE-7] cannot be started while it is disabled, and is not enabled when it cannot be started', async () => {
    await register({ name: 'Off', mcp_command: fixture('plain'), enabled: false });
    expect(await stateOf('off')).toBe('disabled');
    expect(await admin.post('/api/sources/off/start', undefined)).toMatchObject({ status: 409, json: { code: 'CONFLICT' } });
    expect((await admin.patch('/api/sources/off', { enabled: true })).json.status.state).toBe('running');
    expect((await admin.patch('/api/sources/off', { enabled: false })).json).toMatchObject({
      enabled: false,
      status: { state: 'disabled' },
    });
    await register({ name: 'Dead', mcp_command: fixture('crash-handshake'), enabled: false });
    expect((await admin.patch('/api/sources/dead', { enabled: true })).status).toBe(503);
    expect((await admin.get('/api/sources/dead')).json.enabled).toBe(false);
  });

  test('can be replaced and deleted, with its tools', async () => {
    const { json } = await register({ name: 'Short lived', mcp_command: fixture('plain') });
    const replaced = await admin.put(`/api/sources/${json.id}`, {
      name: 'Longer lived',
      namespace: 'longer',
      mcp_command: fixture('plain'),
    });
    expect(replaced.json).toMatchObject({ id: json.id, namespace: 'longer' });
    await until(async () => (await stateOf('longer')) === 'running');
    expect((await admin.delete(`/api/sources/${json.id}`)).status).toBe(204);
    expect((await admin.get(`/api/sources/${json.id}`)).status).toBe(404);
    expect((await alice.listedNames()).filter((name) => name.startsWith('longer:'))).toEqual([]);
  });
});

describe('[NAME-2] [NAME-3] a source whose name has underscores', () => {
  test('keeps them in its namespace, and its tools are called by that', async () => {
    expect((await register({ name: 'my_server', mcp_command: fixture('plain') })).json).toMatchObject({ namespace: 'my_server' });
    for (const name of ['my_server:echo', 'my_server.echo'])
      expect(await alice.call(name, { text: name })).toMatchObject({ json: { tool: 'my_server:echo', text: name } });
    await admin.post('/api/groups', { id: 'mine', name: 'Mine', selectors: [{ source: 'my_*' }], exclude: ['my_server.fail'] });
    const { tools } = (await admin.get('/api/tools?source=my_server')).json;
    expect(tools).toContainEqual(expect.objectContaining({ name: 'my_server:echo', groups: ['everything', 'mine'] }));
  });

  test('keeps its namespace and model names when they once became hyphens', async () => {
    const { id } = (await register({ name: 'old_server', namespace: 'old-server', mcp_command: fixture('plain') })).json;
    const replaced = await admin.put(`/api/sources/${id}`, { name: 'old_server', mcp_command: fixture('plain'), standby: 1 });
    expect(replaced.json).toMatchObject({ namespace: 'old-server' });
    const { tools } = (await alice.get('/api/bff/tools?q=old-server')).json;
    expect(tools).toContainEqual(expect.objectContaining({ name: 'old-server:echo', model_name: 'old-server_echo' }));
  });
});

test.each(['start', 'stop', 'restart', 'refresh'])('the built-in tools always run, and %s is a conflict', async (action) => {
  const { status, json } = await admin.post(`/api/sources/builtin/${action}`, undefined);
  expect([status, json]).toEqual([409, { code: 'CONFLICT', message: 'The built-in tools are always running' }]);
});

describe('[SRC-10] a registration', () => {
  test.each([
    [{ mcp_command: fixture('plain') }, /^name$/, 'Name is required'],
    [{ name: '  ', mcp_command: fixture('plain') }, /^name$/, 'Name is required'],
    [
      { name: 'X', mcp: { package: { package_type: 'npm', identifier: '' }, transport: { type: 'stdio' } } },
      /identifier/,
      'Package identifier required',
    ],
    [{ name: 'X', mcp: { package: { package_type: 'npm', identifier: 'x' } } }, /transport/, 'Transport required'],
  ])('[MC-NT3] of %j is refused by field, and nothing is saved', async (body, field, message) => {
    const before = (await admin.get('/api/sources')).json.sources.length;
    const { status, json } = await register(body);
    expect([status, json.code, json.message]).toEqual([400, 'VALIDATION_ERROR', expect.stringContaining(message)]);
    expect(json.field).toMatch(field);
    expect((await admin.get('/api/sources')).json.sources).toHaveLength(before);
  });

  test('[NAME-2] with a namespace that is taken is a conflict', async () => {
    await register({ name: 'Twice', mcp_command: fixture('plain') });
    expect(await register({ name: 'Twice', mcp_command: fixture('plain') })).toMatchObject({ status: 409, json: { code: 'CONFLICT' } });
  });
});
