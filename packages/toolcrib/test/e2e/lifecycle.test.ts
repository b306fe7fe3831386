import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startHandmadeServer, textResult, type Asked } from '../fixtures/mcp/handmade-server.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { pluginDirectory } from '../mcp/registration-fixture.ts';
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
const source = async (namespace: string) => (await admin.get(`/api/sources/${namespace}`)).json;
const stateOf = async (namespace: string) => (await source(namespace)).status.state as string;
const processes = async () => (await readdir(join(server.dataDir, 'processes'))).length;
const echo = { name: 'echo', inputSchema: { type: 'object' } };

/** A server that runs only while a file is there, so that a test decides whether it comes back. */
async function conditionalServer() {
  const [, program = ''] = fixture();
  const script = `
    import { existsSync } from 'node:fs';
    if (!existsSync(new URL('allowed', import.meta.url))) { console.error('not allowed'); process.exit(3); }
    process.argv = [process.argv[0], process.argv[1], 'plain'];
    await import(${JSON.stringify(program)});`;
  const directory = await pluginDirectory({ 'server.mjs': script, allowed: '' });
  const flag = join(directory, 'allowed');
  return {
    mcp_command: [process.execPath, join(directory, 'server.mjs')],
    mcp_lifecycle_mode: 'singleton',
    allow: () => writeFile(flag, ''),
    forbid: () => rm(flag),
  };
}

describe('a valid registration', () => {
  test('[SRC-9] is answered at once as starting, and discovery continues in the background', async () => {
    const { status, headers, json } = await admin.post('/api/sources', { name: 'Slow', mcp_command: fixture('hang-handshake') });
    expect([status, json.status, json.enabled]).toEqual([201, { state: 'starting' }, true]);
    expect(headers.get('location')).toBe(`/api/sources/${json.id}`);
    expect(await stateOf('slow')).toBe('starting');
    // [LIFE-8] Nobody else waits for it.
    expect((await register({ name: 'Quick', mcp_command: fixture('plain') })).json.status.state).toBe('running');
    expect(await stateOf('slow')).toBe('starting');
    expect((await admin.delete('/api/sources/slow')).status).toBe(204);
  });

  test('[SRC-9] is waited for no longer than requested', async () => {
    const { json } = await admin.post('/api/sources?wait=1', { name: 'Slow', mcp_command: fixture('hang-handshake') });
    expect(json.status.state).toBe('starting');
    await admin.delete('/api/sources/slow');
  });
});

describe('the status of a source', () => {
  test('[LIFE-1] keeps apart whether the source is wanted, its state and its health', async () => {
    const seen = async () => {
      const { enabled, status, health } = await source('facts');
      return [enabled, status.state, health];
    };
    await register({ name: 'Facts', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton', enabled: false });
    expect(await seen()).toEqual([false, 'disabled', 'unknown']);
    await admin.patch('/api/sources/facts', { enabled: true });
    expect(await seen()).toEqual([true, 'running', 'healthy']);
    expect((await source('facts')).status.tools).toBeGreaterThan(5);
    await admin.post('/api/sources/facts/stop', undefined);
    expect(await seen()).toEqual([true, 'stopped', 'healthy']);
    await admin.post('/api/sources/facts/start', undefined);
    // A tool's own failure says nothing about its source.
    await alice.call('facts:fail', {});
    expect(await seen()).toEqual([true, 'running', 'healthy']);
  });

  test('[LIFE-3] of a transient source is running once it was proven ready, with no process left', async () => {
    const before = await processes();
    await register({ name: 'Proven', mcp_command: fixture('plain'), resilience: { heartbeatIntervalMs: 1 } });
    expect(await stateOf('proven')).toBe('running');
    await until(async () => (await processes()) === before);
    expect((await source('proven')).status.state).toBe('running');
    const { lines } = (await admin.get('/api/sources/proven/logs')).json;
    // No heartbeat, however often one would be due, has started it again.
    expect(lines.filter(({ text }: { text: string }) => text.endsWith('started.'))).toHaveLength(1);
  });

  test('[LIFE-3] of a source whose secret is missing is an error, and nothing is spawned', async () => {
    const { json } = await register({ name: 'Unresolved', mcp_command: fixture('plain'), mcp_env_vars: { A: '${NOWHERE_AT_ALL}' } });
    expect(json.status).toMatchObject({ state: 'error', code: 'VALIDATION_ERROR', message: expect.stringContaining('NOWHERE_AT_ALL') });
    expect((await admin.get('/api/sources/unresolved/logs')).json.lines.map(({ text }: { text: string }) => text)).toEqual([
      expect.stringMatching(/^Failed: /),
    ]);
  });

  test('[LIFE-2] [MCP-10] keeps tools listed during a restart, removes them when it gives up, and brings them back', async () => {
    const { allow, forbid, ...command } = await conditionalServer();
    await register({ name: 'Fragile', ...command, resilience: { restart: { maxAttempts: 2, backoffMs: 1500 } } });
    const listed = async () => (await alice.listedNames()).includes('fragile:echo');
    const stored = async () => (await admin.get('/api/tools?source=fragile&limit=1000')).json.total as number;
    const count = await stored();

    await forbid();
    await alice.call('fragile:crash');
    expect(await stateOf('fragile')).toBe('restarting');
    expect(await listed()).toBe(true);
    await allow();
    // The call joins the restart that is under way.
    expect(await alice.call('fragile:echo', { text: 'joined' })).toMatchObject({ json: { success: true, text: 'joined' } });

    await forbid();
    await alice.call('fragile:crash');
    await until(async () => (await stateOf('fragile')) === 'error');
    expect((await source('fragile')).status.message).toMatch(/^Given up after 2 attempts to start it again: .*not allowed/s);
    expect([await listed(), await stored()]).toEqual([false, count]);
    expect((await alice.call('fragile:echo', { text: 'x' })).status).toBe(404);

    await allow();
    expect((await admin.post('/api/sources/fragile/start', undefined)).json.status.state).toBe('running');
    expect([await listed(), await stored()]).toEqual([true, count]);
  });

  test('[LIFE-7] is switched off again when enabling fails, and the reason is the answer', async () => {
    const { allow, forbid, ...command } = await conditionalServer();
    await forbid();
    await register({ name: 'Switched', ...command, enabled: false });
    const { status, json } = await admin.patch('/api/sources/switched', { enabled: true });
    expect([status, json.code, json.message]).toEqual([503, 'SERVICE_UNAVAILABLE', expect.stringContaining('not allowed')]);
    expect(await source('switched')).toMatchObject({ enabled: false, status: { state: 'disabled' } });
    await allow();
    expect((await admin.patch('/api/sources/switched', { enabled: true })).json).toMatchObject({
      enabled: true,
      status: { state: 'running' },
    });
  });
});

describe('a remote server', () => {
  test('[ENV-5] gets its variables as headers, and explicit headers win', async () => {
    await using remote = await startHandmadeServer({ 'tools/list': ({ result }) => result({ tools: [echo] }) });
    const { json } = await register({
      name: 'Headed',
      mcp_server_url: remote.url,
      mcp_env_vars: { API_KEY: 'key-1', BEARER_TOKEN: 'token-1', MCP_HEADER_X_TEAM: 'red', MCP_HEADER_X_FLOOR: '3', 'X-Desk': '7' },
      headers: { 'X-Team': 'blue' },
    });
    expect(json.status.state).toBe('running');
    expect(json.definition.environment).toMatchObject({ API_KEY: '***', BEARER_TOKEN: '***' });
    const headers = { 'x-api-key': 'key-1', authorization: 'Bearer token-1', 'x-team': 'blue', 'x-floor': '3', 'x-desk': '7' };
    for (const request of remote.requests) expect(request.headers).toMatchObject(headers);
  });

  test.each([401, 403])(
    '[ERR-10] [LIFE-1] that answers %i makes the call fail with that status and the source unauthenticated',
    async (status) => {
      let refuse = true;
      const call = ({ response, result }: Asked) => (refuse ? response.writeHead(status).end() : result(textResult('welcome')));
      await using remote = await startHandmadeServer({ 'tools/list': ({ result }) => result({ tools: [echo] }), 'tools/call': call });
      await register({ name: `Guarded ${status}`, mcp_server_url: remote.url });
      const called = await alice.call(`guarded-${status}:echo`);
      expect([called.status, called.json.success, called.json.error.upstream_status]).toEqual([200, false, status]);
      // It is alive: its tools stay, and so does its status.
      expect(await source(`guarded-${status}`)).toMatchObject({ health: 'unauthenticated', status: { state: 'running' } });
      refuse = false;
      expect((await alice.call(`guarded-${status}:echo`)).json.text).toBe('welcome');
      expect((await source(`guarded-${status}`)).health).toBe('healthy');
    },
  );

  test('[ERR-8] whose connection breaks in the middle of a call fails it as NETWORK_ERROR', async () => {
    await using remote = await startHandmadeServer({
      'tools/list': ({ result }) => result({ tools: [echo] }),
      'tools/call': ({ response }) => response.destroy(),
    });
    await register({ name: 'Cut', mcp_server_url: remote.url });
    const { status, json } = await alice.call('cut:echo');
    expect([status, json.success, json.error.code]).toEqual([200, false, 'NETWORK_ERROR']);
    expect((await source('cut')).health).toBe('degraded');
  });
});

test('[ERR-9] an answer that is not a valid message fails its call and is logged', async () => {
  await register({ name: 'Odd', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' });
  const { json } = await alice.call('odd:invalid', { how: 'both' });
  expect(json).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } });
  const { lines } = (await admin.get('/api/sources/odd/logs')).json;
  expect(lines.map(({ text }: { text: string }) => text)).toContainEqual(expect.stringMatching(/^Skipped on standard output: .*"both"/));
});
