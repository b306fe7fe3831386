import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callStateSchema } from '../../src/api.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { rawConnection } from '../fixtures/raw-connection.ts';
import { startTestServer, type TestServer, until } from '../running-server.ts';

let server: TestServer;
let alice: ApiClient;
let bob: ApiClient;
let admin: ApiClient;

beforeAll(async () => {
  server = await startTestServer();
  [alice, bob, admin] = await Promise.all([server.as('alice'), server.as('bob'), server.as('admin')]);
});
afterAll(() => server[Symbol.asyncDispose]());

const stateOf = async (client: ApiClient, callId: string) => (await client.get(`/api/bff/calls/${callId}`)).json;
const recordOf = async (callId: string) => (await admin.get(`/api/calls/${callId}`)).json;
/** Resolves when the call has ended, and gives its state. */
const ended = (client: ApiClient, callId: string) =>
  until(async () => {
    const state = await stateOf(client, callId);
    return state.status !== 'running' && state;
  });

describe('[BFF-2] [BFF-5] a call in the background', () => {
  test('is answered 202 with the address of its state and its answer', async () => {
    const accepted = await alice.call('builtin:wait', { seconds: 0.3 }, { async: true });
    expect(accepted.status).toBe(202);
    const { call_id: callId, status, location } = accepted.json;
    expect({ status, location }).toEqual({ status: 'running', location: `/api/bff/calls/${callId}` });
    expect(accepted.headers.get('location')).toBe(location);
    expect(callStateSchema.parse((await alice.get(location)).json)).toMatchObject({ call_id: callId, status: 'running', answer: null });
    const done = callStateSchema.parse(await ended(alice, callId));
    expect(done).toMatchObject({ status: 'completed', tool: 'builtin:wait', error_code: null });
    expect(done.answer).toMatchObject({ call_id: callId, success: true, result: { waited_seconds: 0.3 } });
    expect(await recordOf(callId)).toMatchObject({ status: 'completed' });
  });

  test('can be cancelled by its owner', async () => {
    const { json } = await alice.call('builtin:wait', { seconds: 300 }, { async: true });
    const cancelled = await alice.delete(json.location);
    expect(cancelled).toMatchObject({ status: 200, json: { status: 'cancelled' } });
    expect(await ended(alice, json.call_id)).toMatchObject({ status: 'cancelled', answer: { status: 'cancelled', success: false } });
    expect(await recordOf(json.call_id)).toMatchObject({ status: 'cancelled' });
    // What has ended stays as it is.
    expect((await alice.delete(json.location)).json.status).toBe('cancelled');
  });

  test('is invisible to others, who cannot cancel it either', async () => {
    const { json } = await alice.call('builtin:wait', { seconds: 300 }, { async: true });
    const finished = (await alice.call('builtin:uuid')).json.call_id;
    const absent = '01900000-0000-7000-8000-000000000000';
    for (const somebody of [bob, admin]) {
      for (const method of ['GET', 'DELETE']) {
        const answers = await Promise.all([json.call_id, finished, absent].map((id) => somebody.request(method, `/api/bff/calls/${id}`)));
        for (const { status, text } of answers) expect([status, text]).toEqual([404, answers[2]?.text]);
      }
    }
    expect((await stateOf(alice, json.call_id)).status).toBe('running');
    await alice.delete(json.location);
  });

  test('keeps its answer, while a call that was answered at once keeps its state only', async () => {
    const { json } = await alice.call('builtin:uuid');
    const state = await stateOf(alice, json.call_id);
    expect(callStateSchema.parse(state)).toMatchObject({ status: 'completed', tool: 'builtin:uuid', answer: null });
    const late = await alice.call('builtin:wait', { seconds: 300 }, { timeout_ms: 10 });
    expect(await stateOf(alice, late.json.call_id)).toMatchObject({ status: 'timed_out', error_code: 'NETWORK_ERROR' });
  });
});

describe('[BFF-2] [MCP-9] a caller who leaves cancels the call', () => {
  /** Resolves when a call of `builtin:wait` is running, which its limit of one at once shows. What asks has bad arguments: it must not take the place itself. */
  const waitRuns = () => until(async () => (await bob.call('builtin:wait', { seconds: -1 })).status === 429);
  const newestWait = async (status: string) =>
    until(async () => {
      const { json } = await admin.get(`/api/calls?tool=builtin:wait&status=${status}&limit=1`);
      return json.calls[0];
    });

  beforeAll(() => admin.patch('/api/tools/builtin:wait', { limits: { concurrency: 1 } }));
  afterAll(() => admin.patch('/api/tools/builtin:wait', { limits: {} }));

  test('of a plain request', async () => {
    const carol = await server.as('alice');
    const body = JSON.stringify({ name: 'builtin:wait', arguments: { seconds: 300 } });
    const socket = await rawConnection(server.url);
    const lines = ['POST /api/bff/tools/call HTTP/1.1', 'Host: 127.0.0.1', `Authorization: Bearer ${carol.token}`];
    socket.write([...lines, 'Content-Type: application/json', `Content-Length: ${body.length}`, '', body].join('\r\n'));
    await waitRuns();
    const before = (await admin.get('/api/calls?tool=builtin:wait&status=cancelled&limit=1')).json.calls[0]?.call_id;
    socket.destroy();
    const record = await until(async () => {
      const newest = await newestWait('cancelled');
      return newest.call_id !== before && newest;
    });
    expect(record).toMatchObject({ status: 'cancelled', tool: 'builtin:wait' });
  });

  test('of a stream', async () => {
    const stream = await alice.callStream('builtin:wait', { seconds: 300 });
    const callId = stream.response.headers.get('toolcrib-call-id') ?? '';
    await waitRuns();
    stream.leave();
    expect(await until(async () => (await admin.get(`/api/calls/${callId}`)).json.status)).toBe('cancelled');
  });

  test('of a batch', async () => {
    const abort = new AbortController();
    const calls = [{ name: 'builtin:wait', arguments: { seconds: 300 } }, { name: 'builtin:uuid' }];
    const asked = alice.request('POST', '/api/bff/tools/call/batch', { body: { calls }, signal: abort.signal });
    await waitRuns();
    const before = (await newestWait('cancelled')).call_id;
    abort.abort();
    await expect(asked).rejects.toThrow(/abort/);
    const record = await until(async () => {
      const newest = await newestWait('cancelled');
      return newest.call_id !== before && newest;
    });
    expect(record.tool).toBe('builtin:wait');
  });
});
