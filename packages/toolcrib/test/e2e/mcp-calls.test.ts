import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../src/net/free-port.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { until } from '../running-server.ts';

const everything = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
let server: OpenServer;
let admin: ApiClient;
let alice: ApiClient;

beforeAll(async () => {
  server = await startOpenServer();
  ({ admin, alice } = server);
  const resilience = { restart: { maxAttempts: 5, backoffMs: 10 } };
  await register({ name: 'One', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton', resilience });
});

afterAll(() => server[Symbol.asyncDispose]());

async function register(body: object) {
  const { json } = await admin.post('/api/sources?wait=60000', body);
  expect(json).toMatchObject({ status: { state: 'running' } });
  return json;
}

describe('a call to a server over stdio', () => {
  test('[EXEC-2] returns structured content as the result', async () => {
    expect(await alice.call('one:add', { a: 2, b: 40 })).toMatchObject({ json: { success: true, result: { sum: 42 }, text: '42' } });
  });

  test('[ERR-7] [EXEC-3] [EXEC-4] fails with an answer when the tool itself fails, which leaves the health of the source alone', async () => {
    const { status, json } = await alice.call('one:fail', { text: 'no such file' });
    expect([status, json.success, json.error]).toMatchObject([200, false, { code: 'SERVICE_UNAVAILABLE', message: 'no such file' }]);
    expect((await admin.get('/api/sources/one')).json.health).toBe('healthy');
  });

  test('[ERR-6] times out when it takes too long, and the server is told', async () => {
    const { json } = await alice.call('one:hold', { key: 'never' }, { timeout_ms: 100 });
    expect(json).toMatchObject({ success: false, status: 'timed_out', error: { code: 'NETWORK_ERROR' } });
    await until(async () => (await alice.call('one:cancelled')).json.result.length > 0);
  });

  test('[ERR-9] fails when it is answered with nonsense, and the next one works', async () => {
    const { json } = await alice.call('one:invalid', { how: 'result' });
    expect(json).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } });
    expect(await alice.call('one:echo', { text: 'on' })).toMatchObject({ json: { text: 'on' } });
  });

  test('[ERR-5] [LIFE-2] fails at once with the last output when its server crashes, and the next one works', async () => {
    const { json } = await alice.call('one:crash', { code: 9, words: 'out of memory' });
    expect(json).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } });
    expect(json.error.message).toContain('out of memory');
    expect(await alice.listedNames()).toContain('one:echo');
    expect(await alice.call('one:echo', { text: 'back' })).toMatchObject({ json: { success: true, text: 'back' } });
  });

  test('[MCP-9] streams its progress in order, including the last one', async () => {
    await using stream = await alice.callStream('one:progress', { steps: 4 });
    const events = await stream.rest();
    expect(events.map(({ event }) => event)).toEqual(['progress', 'progress', 'progress', 'progress', 'result']);
    expect(events.slice(0, 4).map(({ data }) => data.progress)).toEqual([1, 2, 3, 4]);
  });

  test('[MCP-13] can ask its caller a question, if one is there to answer', async () => {
    await using stream = await alice.callStream('one:elicit', { message: 'Sure?' });
    const { data } = await stream.nextOf('elicitation');
    const path = `/api/bff/calls/${data.call_id}/elicitations/${data.elicitation_id}`;
    expect((await admin.post(path, { action: 'accept', content: {} })).status).toBe(404);
    expect((await alice.post(path, { action: 'accept', content: { name: 'Ada' } })).status).toBe(204);
    expect(JSON.stringify((await stream.nextOf('result')).data)).toContain('Ada');
    expect(JSON.stringify((await alice.call('one:elicit', { message: 'Sure?' })).json)).toContain('decline');
  });

  test('[MCP-7] shows a tool that the server adds without being asked', async () => {
    await alice.call('one:grow', { name: 'sprout' });
    expect(await until(async () => (await alice.listedNames()).includes('one:sprout'))).toBe(true);
  });

  test('[MCP-5] starts one process even if fifty first calls race', async () => {
    const { id } = await register({ name: 'Race', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' });
    await admin.post(`/api/sources/${id}/restart`, undefined);
    const answers = await Promise.all(Array.from({ length: 50 }, () => alice.call('race:process')));
    expect(new Set(answers.map(({ json }) => json.result.pid)).size).toBe(1);
  });
});

describe('[ENV-4] a secret of a source', () => {
  test('[ENV-3] [MC-T6] [MC-T7] reaches its server, and is removed from everything the server says', async () => {
    const { json } = await admin.post('/api/sources?wait=30000', {
      name: 'Secretive',
      mcp_command: fixture('plain'),
      mcp_env_vars: { API_TOKEN: 'canary-3f9d2c', PLAIN: 'seen' },
    });
    expect(JSON.stringify(json)).not.toContain('canary-3f9d2c');
    const { result } = (await alice.call('secretive:environment')).json;
    expect(result).toMatchObject({ API_TOKEN: '***', PLAIN: 'seen' });
    expect(result).not.toHaveProperty('TOOLCRIB_DATA');
    expect(JSON.stringify((await admin.get('/api/events')).json)).not.toContain('canary-3f9d2c');
    const replaced = { name: 'Secretive', mcp_command: fixture('plain'), mcp_env_vars: { API_TOKEN: '***', PLAIN: 'new' } };
    await admin.put('/api/sources/secretive', replaced);
    await until(async () => (await admin.get('/api/sources/secretive')).json.status.state === 'running');
    const again = (await alice.call('secretive:environment')).json.result;
    expect(again).toMatchObject({ API_TOKEN: '***', PLAIN: 'new' });
  });
});

describe('[ENV-4] [SEC-1] a secret that a server reveals', () => {
  const token = 'canary-8d41f0e2b75c9a36';
  beforeAll(() =>
    register({
      name: 'Chatty',
      mcp_command: fixture('plain'),
      mcp_env_vars: { API_TOKEN: token, DB_PASSWORD: 'hunter2' },
    }),
  );
  const tell = (say: string) => ['chatty:environment', { name: 'API_TOKEN', say }] as const;

  test.each(['progress', 'log'])('in a %s event does not reach the caller', async (say) => {
    await using stream = await alice.callStream(...tell(say));
    const events = await stream.rest();
    expect(events.map(({ event }) => event)).toEqual([say, 'result']);
    expect(JSON.stringify(events[0])).toContain('***');
    expect(JSON.stringify(events)).not.toContain(token);
  });

  test.each(['error', 'blocks', 'hex', 'base64', 'base64url'])('as %s does not reach the caller', async (say) => {
    const { text, json } = await alice.call(...tell(say));
    expect(text).toContain('***');
    const said = String(json.text ?? '').replaceAll(/\s/g, '');
    for (const part of [token.slice(0, 7), token.slice(7), Buffer.from(token).toString('hex').slice(4, -4)])
      expect(said).not.toContain(part);
    expect(Buffer.from(said, 'base64').toString('latin1')).not.toContain('8d41f0e2b75c');
  });

  test('cannot be guessed: text that the caller sends comes back unchanged, right or wrong', async () => {
    const guesses = { text: 'hunter1 hunter2 hunter3' };
    expect((await alice.call('chatty:echo', guesses)).json.text).toBe(guesses.text);
    expect((await alice.call('chatty:fail', guesses)).json.text ?? '').not.toContain('***');
    expect((await alice.call('chatty:refuse', { message: guesses.text })).json.error.message).toContain(guesses.text);
    await using stream = await alice.callStream('chatty:log', guesses);
    expect(JSON.stringify(await stream.rest())).not.toContain('***');
    // Whoever has not sent it does not get it.
    expect((await alice.call('chatty:environment')).json.result).toMatchObject({ DB_PASSWORD: '***', API_TOKEN: '***' });
  });
});

test('[ENV-2] [SRC-7] a secret in an argument stays out of the definition and is filled in when the server starts', async () => {
  const { json } = await admin.post('/api/sources?wait=30000', {
    name: 'Argued',
    mcp_command: [...fixture('plain'), '--api-key', 'canary-77aa01bc'],
  });
  expect(JSON.stringify(json)).not.toContain('canary-77aa01bc');
  expect((await alice.call('argued:process')).json.result.arguments).toEqual(['plain', '--api-key', '***']);
});

describe.each([
  ['streamableHttp', 'mcp', undefined],
  ['sse', 'sse', 'sse'],
])('[MCP-2] a remote server over %s', (mode, path, transport) => {
  test('is listed and called', async () => {
    const port = await freePort('127.0.0.1');
    const child = spawn(process.execPath, [everything, mode], { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' });
    try {
      const url = `http://127.0.0.1:${port}/${path}`;
      await until(async () => await fetch(url, { method: 'OPTIONS' }).catch(() => false));
      await register({ name: `Far ${mode}`, namespace: `far-${path}`, mcp_server_url: url, mcp_transport_type: transport });
      const called = await alice.call(`far-${path}:get-sum`, { a: 2, b: 40 });
      expect(called).toMatchObject({ json: { success: true, text: 'The sum of 2 and 40 is 42.' } });
      await admin.delete(`/api/sources/far-${path}`);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
  });
});
