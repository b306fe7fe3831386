import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { httpStatusByCode } from '../../src/model/crib-error.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startHandmadeServer, textResult } from '../fixtures/mcp/handmade-server.ts';
import { plainPrograms } from '../fixtures/mcp/plain-programs.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { childrenOf } from '../fixtures/process-table.ts';
import { until, untilSeen } from '../running-server.ts';

/** [EXEC-3] What each failure of a server looks like to an administrator and to a caller. */
let server: OpenServer;
let admin: ApiClient;
let alice: ApiClient;

beforeAll(async () => {
  server = await startOpenServer();
  ({ admin, alice } = server);
});
afterAll(() => server[Symbol.asyncDispose]());

const register = async (form: object) => (await admin.post('/api/sources?wait=60000', form)).json;
const sourceOf = async (id: string) => (await admin.get(`/api/sources/${id}`)).json;
const logOf = async (id: string) => {
  const { lines } = (await admin.get(`/api/sources/${id}/logs?lines=1000`)).json;
  return lines.map(({ text }: { text: string }) => text).join('\n');
};
const singleton = { mcp_lifecycle_mode: 'singleton', resilience: { restart: { maxAttempts: 5, backoffMs: 10 } } };
const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });

test('[ERR-4] a server that never answers the handshake puts its source into error, and its process is gone', async () => {
  const before = childrenOf(process.pid);
  const { status } = await register({ name: 'Silent', mcp_command: fixture('hang-handshake'), resilience: { startupTimeoutMs: 400 } });
  expect(status).toEqual({
    state: 'error',
    code: 'NETWORK_ERROR',
    message: expect.stringMatching(/^Handshake timed out.*\nready$/),
    summary: expect.stringMatching(/^Handshake timed out[^\n]*$/),
    last_words: ['ready'],
  });
  await untilSeen(() => childrenOf(process.pid).length === before.length);
});

describe('[ERR-5] a process that crashes', () => {
  test('fails its calls at once with its last output, bounded and redacted, and the next call works', async () => {
    await register({ name: 'Crashing', mcp_command: fixture('plain'), mcp_env_vars: { API_TOKEN: 'canary-8812ff' }, ...singleton });
    const waiting = [1, 2, 3].map((key) => alice.call('crashing:hold', { key }));
    const words = `${'x'.repeat(100_000)}\nthe token was canary-8812ff`;
    const crashed = await alice.call('crashing:crash', { code: 9, words });
    for (const { status, json } of [crashed, ...(await Promise.all(waiting))]) {
      expect([status, json.success, json.error.code]).toEqual([200, false, 'SERVICE_UNAVAILABLE']);
      expect(json.error.message).toContain('ended with code 9');
      expect(json.error.message).toContain('the token was ***');
      expect(json.error.message.length).toBeLessThan(5000);
      expect(json.error.details).toMatchObject({ exit_code: 9 });
    }
    expect(await alice.call('crashing:echo', { text: 'again' })).toMatchObject({ json: { success: true, text: 'again' } });
  });

  test('fails only its own call in transient mode', async () => {
    await register({ name: 'Fresh', mcp_command: fixture('plain') });
    const calls = [alice.call('fresh:crash', { words: 'no memory' }), alice.call('fresh:echo', { text: 'fine' })] as const;
    const [crashed, echoed] = await Promise.all(calls);
    expect(crashed.json).toMatchObject({ error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('no memory') } });
    expect(echoed.json).toMatchObject({ success: true, text: 'fine' });
  });

  test.each(['singleton', 'transient'])('is told apart from a cut connection over SSE (%s)', async (mcp_lifecycle_mode) => {
    const mcp_command = [process.execPath, join(plainPrograms, 'sse-server.js')];
    const namespace = `eventful-${mcp_lifecycle_mode}`;
    const form = { name: 'Eventful', namespace, mcp_command, mcp_transport_type: 'sse', ...singleton, mcp_lifecycle_mode };
    expect(await register(form)).toMatchObject({ status: { state: 'running' } });
    const { json } = await alice.call(`${namespace}:crash`, { code: 9, words: 'out of ideas' });
    expect(json.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('out of ideas') });
    expect((await alice.call(`${namespace}:echo`, { text: 'again' })).json).toMatchObject({ success: true, text: 'again' });
  });
});

test('[ERR-6] a call that times out says so, the server is told, and the source goes on', async () => {
  await register({ name: 'Slow', mcp_command: fixture('plain'), ...singleton });
  const { status, json } = await alice.call('slow:hold', { key: 'never' }, { timeout_ms: 100 });
  expect([status, json.status, json.error.code]).toEqual([200, 'timed_out', 'NETWORK_ERROR']);
  await until(async () => (await alice.call('slow:cancelled')).json.result.length === 1);
});

test('[ERR-7] [LIFE-1] a call that the server refuses is an error result, and leaves the health of the source alone', async () => {
  await register({ name: 'Refusing', mcp_command: fixture('plain'), ...singleton });
  for (let time = 0; time < 3; time++) {
    const { status, json } = await alice.call('refusing:refuse', { code: -32602, message: 'no such account' });
    expect([status, json.success]).toEqual([200, false]);
    expect(json.error).toEqual({ code: 'VALIDATION_ERROR', message: 'no such account', origin: 'tool', retryable: false });
  }
  expect((await sourceOf('refusing')).health).toBe('healthy');
});

describe('[EXEC-6] the JSON-RPC code of a server decides the code of the answer', () => {
  const byRpcCode = [
    [-32_600, 'VALIDATION_ERROR', 'tool'],
    [-32_602, 'VALIDATION_ERROR', 'tool'],
    [-32_601, 'NOT_FOUND', 'tool'],
    [-32_603, 'SERVICE_UNAVAILABLE', 'tool'],
    [-32_000, 'SERVICE_UNAVAILABLE', 'tool'],
    [-32_002, 'SERVICE_UNAVAILABLE', 'tool'],
    [-32_042, 'SERVICE_UNAVAILABLE', 'tool'],
    [7, 'SERVICE_UNAVAILABLE', 'tool'],
    // It could not read what we sent, or wants what we do not have.
    [-32_700, 'SERVICE_UNAVAILABLE', 'source'],
    [-32_021, 'SERVICE_UNAVAILABLE', 'source'],
  ] as const;

  test('over stdio', async () => {
    await register({ name: 'Coded', mcp_command: fixture('plain'), ...singleton });
    for (const [rpc, code, origin] of byRpcCode) {
      const { status, json } = await alice.call('coded:refuse', { code: rpc, message: 'no' });
      expect([rpc, status, json.status, json.error]).toEqual([rpc, 200, 'failed', { code, message: 'no', origin, retryable: false }]);
      expect(json.metadata).toMatchObject({ rpc_error: { code: rpc }, attempts: 1 });
    }
    expect((await sourceOf('coded')).health).toBe('healthy');
  });

  test('over HTTP, whatever the HTTP status', async () => {
    const serverInfo = { name: 'coded', version: '1' };
    await using upstream = await startHandmadeServer({
      initialize: ({ message, json }) =>
        json({ jsonrpc: '2.0', id: message.id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } }),
      'tools/list': ({ result }) => result({ tools: [tool('refuse')] }),
      'tools/call'({ message, json }) {
        const { code, status } = message.params!['arguments'] as { code: number; status: number };
        json({ jsonrpc: '2.0', id: message.id, error: { code, message: 'no' } }, status);
      },
    });
    const { id } = await register({ name: 'Coded over HTTP', namespace: 'http-coded', mcp_server_url: upstream.url });
    for (const [rpc, code, origin] of byRpcCode) {
      for (const status of [200, 400, 404]) {
        const { json } = await alice.call('http-coded:refuse', { code: rpc, status });
        expect([rpc, status, json.error]).toEqual([rpc, status, { code, message: 'no', origin, retryable: false }]);
      }
    }
    await admin.delete(`/api/sources/${id}`);
  });

  test('[UTCP-1] for a UTCP client too, which gets the fitting status', async () => {
    const { json: tools } = await alice.get('/api/bff/tools?limit=1000');
    const { tool_id } = tools.tools.find(({ name }: { name: string }) => name === 'coded:refuse');
    for (const [rpc, code, origin] of byRpcCode) {
      const { status, json } = await alice.post(`/api/bff/utcp/${tool_id}?code=${rpc}&message=no`, undefined);
      expect([rpc, status, json]).toEqual([rpc, origin === 'tool' ? 422 : httpStatusByCode[code], { code, message: 'no' }]);
    }
  });
});

test('[ERR-8] a connection lost in the middle of a call is a network error, and the next call works', async () => {
  let cut = true;
  await using upstream = await startHandmadeServer({
    'tools/list': ({ result }) => result({ tools: [tool('write')] }),
    'tools/call'({ response, result }) {
      if (!cut) return result(textResult('written'));
      cut = false;
      return response.destroy();
    },
  });
  const { id } = await register({ name: 'Remote', mcp_server_url: upstream.url });
  expect((await alice.call('remote:write')).json).toMatchObject({ success: false, error: { code: 'NETWORK_ERROR' } });
  expect((await alice.call('remote:write')).json).toMatchObject({ success: true, text: 'written' });
  await admin.delete(`/api/sources/${id}`);
});

test.each(['result', 'both', 'version'])('[ERR-9] an invalid message (%s) fails its call, is logged, and stalls nothing', async (how) => {
  const name = `Invalid ${how}`;
  const { id } = await register({ name, mcp_command: fixture('plain'), ...singleton });
  const { status, json } = await alice.call(`invalid-${how}:invalid`, { how });
  expect([status, json.success, json.error]).toMatchObject([200, false, { code: 'SERVICE_UNAVAILABLE', origin: 'source' }]);
  expect(await alice.call(`invalid-${how}:echo`, { text: 'on' })).toMatchObject({ json: { text: 'on' } });
  expect(await logOf(id)).toMatch(/Skipped|invalid|not valid/i);
});

test.each([401, 403])(
  '[ERR-10] a server that answers %i to a call makes the source unauthenticated, and the answer has the status',
  async (refused) => {
    let refuses = true;
    await using upstream = await startHandmadeServer({
      'tools/list': ({ result }) => result({ tools: [tool('read')] }),
      'tools/call': ({ response, result }) => (refuses ? response.writeHead(refused).end() : result(textResult('let in'))),
    });
    const { id } = await register({ name: `Guarded ${refused}`, mcp_server_url: upstream.url });
    const { status, json } = await alice.call(`guarded-${refused}:read`);
    expect([status, json.success, json.error.upstream_status]).toEqual([200, false, refused]);
    expect(await sourceOf(id)).toMatchObject({ health: 'unauthenticated', status: { state: 'running' } });
    expect(await alice.listedNames()).toContain(`guarded-${refused}:read`);
    refuses = false;
    expect((await alice.call(`guarded-${refused}:read`)).json).toMatchObject({ success: true, text: 'let in' });
    expect((await sourceOf(id)).health).toBe('healthy');
    await admin.delete(`/api/sources/${id}`);
  },
);
