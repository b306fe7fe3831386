import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { textResult, startHandmadeServer } from '../fixtures/mcp/handmade-server.ts';
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

async function register(body: object) {
  const { json } = await admin.post('/api/sources?wait=60000', body);
  expect(json).toMatchObject({ status: { state: 'running' } });
  return json;
}

/** Begins a call in the background and gives its address once it is in the wanted state. */
async function begin(name: string, args: object, status: string, more: object = {}): Promise<string> {
  const { json } = await alice.call(name, args, { async: true, ...more });
  expect(json.status).toBe(status);
  expect((await alice.get(json.location)).json).toMatchObject({ status, answer: null });
  return json.location;
}

/** The value of one line of the metrics. */
const metric = async (line: string) => new RegExp(`^${line} (\\S+)$`, 'm').exec((await admin.get('/metrics')).text)?.[1];
const ended = (location: string) => until(async () => (await alice.get(location)).json.answer ?? false);

describe('[EXEC-7] a source that may run one call at once, with two in the queue', () => {
  const limits = { concurrency: 1, queue: 2 };
  beforeAll(async () => {
    const body = { name: 'Narrow', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton', limits };
    await register(body);
    // `release` must get through while `hold` runs, so it is limited by its own.
    await register({ name: 'Wide', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' });
    await admin.patch('/api/tools/wide:hold', { limits });
  });

  test('runs waiting calls in order, and refuses one too many with Retry-After', async () => {
    const running = await begin('wide:hold', { key: 'a' }, 'running');
    const first = await begin('wide:hold', { key: 'b' }, 'queued');
    const second = await begin('wide:hold', { key: 'c' }, 'queued');
    expect(await metric('toolcrib_calls_waiting')).toBe('2');
    const full = await alice.call('wide:hold', { key: 'd' });
    expect([full.status, full.headers.get('retry-after'), full.json]).toEqual([
      429,
      '1',
      { code: 'RATE_LIMITED', message: 'This tool may run 1 call at a time, and 2 wait already: try again later' },
    ]);
    // Nothing of the second reaches the server before the first has ended.
    for (const [location, key] of [
      [running, 'a'],
      [first, 'b'],
      [second, 'c'],
    ] as const) {
      await until(async () => (await alice.get(location)).json.status === 'running');
      await alice.call('wide:release', { keys: ['c', 'b', 'a'] });
      expect(await ended(location)).toMatchObject({ success: true, text: key });
    }
  });

  test('shows its limits to administrators', async () => {
    expect((await admin.get('/api/sources/narrow')).json.definition.limits).toEqual(limits);
    expect((await admin.get('/api/tools/wide:hold')).json.limits).toEqual(limits);
  });

  test('[EXEC-9] frees the key of a queued call that is cancelled or times out before it ran', async () => {
    const key = { 'idempotency-key': 'late' };
    const running = await begin('narrow:hold', { key: 'never' }, 'running');
    const cancelled = await begin('narrow:echo', { text: 'x' }, 'queued');
    expect((await alice.delete(cancelled)).json.status).toBe('cancelled');
    expect(await ended(cancelled)).toMatchObject({ status: 'cancelled', success: false });
    const late = await alice.call('narrow:echo', { text: 'x' }, { timeout_ms: 20 }, key);
    expect(late).toMatchObject({ status: 200, json: { status: 'timed_out', error: { code: 'NETWORK_ERROR', retryable: true } } });
    expect(late.json.error.message).toBe('narrow:echo had no free place within 20 ms');
    const waiting = await begin('narrow:echo', { text: 'still here' }, 'queued');
    await alice.delete(running);
    expect(await ended(waiting)).toMatchObject({ success: true, text: 'still here' });
    expect((await alice.call('narrow:echo', { text: 'x' }, {}, key)).json).toMatchObject({ success: true, text: 'x' });
  });

  test('refuses by rate before anybody waits', async () => {
    await admin.patch('/api/tools/wide:echo', { limits: { rate_per_second: 0.01, burst: 1 } });
    expect((await alice.call('wide:echo', { text: 'x' })).status).toBe(200);
    expect(await alice.call('wide:echo', { text: 'x' })).toMatchObject({ status: 429, json: { code: 'RATE_LIMITED' } });
  });

  test('uses the shorter of two timeouts', async () => {
    await admin.patch('/api/tools/wide:slow', { limits: { timeout_ms: 30 } });
    const { json } = await alice.call('wide:slow', { ms: 60_000 }, { timeout_ms: 50_000 });
    expect([json.status, json.error.message]).toEqual(['timed_out', 'wide:slow did not answer within 30 ms']);
  });
});

describe('[EXEC-7] the breaker of a remote source', () => {
  test('opens when the server keeps failing, is shown to administrators, and closes after one success', async () => {
    let broken = false;
    await using remote = await startHandmadeServer({
      'tools/list': ({ result }) => result({ tools: [{ name: 'look', inputSchema: { type: 'object' } }] }),
      'tools/call': ({ json, result }) => (broken ? json({ error: 'down' }, 500) : result(textResult('here'))),
    });
    const breaker = { failures: 2, open_ms: 2000 };
    const body = { name: 'Shaky', mcp_server_url: remote.url, limits: { breaker } };
    expect(await register(body)).toMatchObject({ breaker: 'closed', definition: { limits: { breaker } } });
    expect((await alice.call('shaky:look')).json.text).toBe('here');

    broken = true;
    for (let times = 0; times < 2; times++) {
      const { status, json } = await alice.call('shaky:look');
      expect([status, json.error.upstream_status]).toEqual([200, 500]);
    }
    const asked = remote.requests.length;
    const refused = await alice.call('shaky:look');
    expect([refused.status, refused.headers.get('retry-after'), refused.json.code]).toEqual([
      503,
      expect.stringMatching(/^[12]$/),
      'SERVICE_UNAVAILABLE',
    ]);
    expect(refused.json.message).toMatch(/^shaky keeps failing: calls have been refused since 20.*The last failure: .*500/);
    expect(remote.requests).toHaveLength(asked);
    expect((await admin.get('/api/sources/shaky')).json.breaker).not.toBe('closed');
    expect(await metric('toolcrib_breakers_open{of="shaky",state="[a-z_]+"}')).toBe('1');

    broken = false;
    const again = await until(async () => {
      const reply = await alice.call('shaky:look');
      return reply.status === 200 && reply;
    });
    expect(again.json.text).toBe('here');
    expect((await admin.get('/api/sources/shaky')).json.breaker).toBe('closed');
    expect(await metric('toolcrib_breakers_open.*')).toBeUndefined();
    await admin.delete('/api/sources/shaky');
  });

  test('[ID-5] stays closed when one caller lacks rights, sends wrong arguments, or the tool itself fails', async () => {
    let status = 403;
    await using remote = await startHandmadeServer({
      'tools/list': ({ result }) => result({ tools: [{ name: 'look', inputSchema: { type: 'object' } }] }),
      'tools/call': ({ json, result }) => (status === 200 ? result({ ...textResult('no'), isError: true }) : json({}, status)),
    });
    await register({ name: 'Strict', mcp_server_url: remote.url, limits: { breaker: { failures: 1, open_ms: 60_000 } } });
    for (status of [401, 403, 404, 429, 200]) expect((await alice.call('strict:look')).status).toBe(200);
    expect((await admin.get('/api/sources/strict')).json.breaker).toBe('closed');
    await admin.delete('/api/sources/strict');
  });
});
