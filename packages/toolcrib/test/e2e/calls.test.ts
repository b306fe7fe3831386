import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerSchema, batchAnswerSchema } from '../../src/api.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startTestServer, type TestServer } from '../running-server.ts';

let server: TestServer;
let alice: ApiClient;
let admin: ApiClient;

beforeAll(async () => {
  server = await startTestServer();
  [alice, admin] = await Promise.all([server.as('alice'), server.as('admin')]);
});
afterAll(() => server[Symbol.asyncDispose]());

const recordOf = async (callId: string) => (await admin.get(`/api/calls/${callId}`)).json;

describe('[BFF-2] [NAME-1] a tool can be called by each of its names', () => {
  test('and its id, namespace:tool and namespace.tool give the same answer', async () => {
    const { json } = await alice.get('/api/bff/tools?q=calculator&limit=1');
    const [{ tool_id }] = json.tools;
    const requests = [{ tool_id }, { name: 'builtin:calculator' }, { name: 'builtin.calculator' }, { name: tool_id }];
    for (const request of requests) {
      const reply = await alice.post('/api/bff/tools/call', { ...request, arguments: { expression: '6 * 7' } });
      expect(reply.status).toBe(200);
      expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(answerSchema.parse(reply.json)).toEqual({
        call_id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/),
        tool_id,
        tool: 'builtin:calculator',
        success: true,
        status: 'completed',
        is_error: false,
        content: [{ type: 'text', text: '42' }],
        structured_content: { result: 42 },
        result: { result: 42 },
        text: '42',
        error: null,
        execution_time_ms: expect.any(Number),
        metadata: { attempts: 1, source_id: expect.any(String) },
      });
    }
  });

  test('and by no other spelling', async () => {
    for (const name of ['calculator', 'builtin_calculator', 'BUILTIN:calculator', 'builtin:calculator ', 'builtin/calculator']) {
      expect([name, (await alice.call(name, { expression: '1' })).status]).toEqual([name, 404]);
    }
  });
});

describe('[EXEC-3] refusals and failures are told apart', () => {
  test('wrong arguments are refused before the tool is called, and that is recorded', async () => {
    const refused = await alice.call('builtin:calculator', { expression: 42 });
    expect(refused.json).toEqual({ code: 'VALIDATION_ERROR', message: expect.any(String), field: 'arguments.expression' });
    const { json } = await admin.get('/api/calls?limit=1');
    expect(json.calls[0]).toMatchObject({ tool: 'builtin:calculator', status: 'failed', error_code: 'VALIDATION_ERROR' });
  });

  test('a tool that fails returns an answer that says so', async () => {
    const failed = await alice.call('builtin:calculator', { expression: '1 / 0' });
    expect(failed.status).toBe(200);
    expect(answerSchema.parse(failed.json)).toMatchObject({
      success: false,
      status: 'failed',
      is_error: true,
      error: { code: 'SERVICE_UNAVAILABLE', message: expect.any(String) },
    });
    expect(await recordOf(failed.json.call_id)).toMatchObject({ status: 'failed', error_code: 'SERVICE_UNAVAILABLE' });
  });

  test('[ERR-6] a call that exceeds its timeout is answered 200 as timed out', async () => {
    const late = await alice.call('builtin:wait', { seconds: 300 }, { timeout_ms: 30 });
    expect(late.status).toBe(200);
    expect(late.json).toMatchObject({ success: false, status: 'timed_out', error: { code: 'NETWORK_ERROR', retryable: true } });
    expect(late.json.error.message).toContain('30 ms');
    expect(await recordOf(late.json.call_id)).toMatchObject({ status: 'timed_out', error_code: 'NETWORK_ERROR' });
  });
});

describe('[BFF-2] a call with an event stream', () => {
  test('[MCP-9] sends its progress in order, including the last one, and then its result', async () => {
    await using stream = await alice.callStream('builtin:wait', { seconds: 2.5 });
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const callId = stream.response.headers.get('toolcrib-call-id');
    const events = await stream.rest();
    expect(events.map(({ event, data }) => [event, data.progress ?? data.status, data.call_id])).toEqual([
      ['progress', 1, callId],
      ['progress', 2, callId],
      ['progress', 2.5, callId],
      ['result', 'completed', callId],
    ]);
    expect(answerSchema.parse(events.at(-1)?.data).result).toEqual({ waited_seconds: 2.5 });
  });

  test('answers a refusal as usual, and a failure as its result', async () => {
    const refused = await alice.call('builtin:calculator', {}, {}, { accept: 'text/event-stream' });
    expect(refused).toMatchObject({ status: 400, json: { field: 'arguments.expression' } });
    await using failed = await alice.callStream('builtin:wait', { seconds: 300 }, { timeout_ms: 20 });
    expect(await failed.rest()).toMatchObject([{ event: 'result', data: { status: 'timed_out' } }]);
  });

  test('passes on the progress of a tool that another tool calls', async () => {
    await using stream = await alice.callStream('builtin:call_tool', { name: 'builtin:wait', arguments: { seconds: 0.01 } });
    const events = await stream.rest();
    expect(events.map(({ event }) => event)).toEqual(['progress', 'result']);
  });
});

describe('[BFF-3] [EXEC-10] a batch', () => {
  test('answers each call on its own, in the order given', async () => {
    const { status, json } = await alice.post('/api/bff/tools/call/batch', {
      calls: [
        { name: 'builtin:wait', arguments: { seconds: 0.1 } },
        { name: 'builtin:calculator', arguments: { expression: '6 * 7' } },
        { name: 'builtin:calculator', arguments: {} },
        { name: 'nowhere:nothing' },
        { name: 'builtin:calculator', arguments: { expression: '1 / 0' } },
        { name: 'builtin:wait', arguments: { seconds: 300 }, timeout_ms: 20 },
        { name: 'builtin:uuid', async: true },
      ],
    });
    expect(status).toBe(200);
    const { answers } = batchAnswerSchema.parse(json);
    expect(answers.map(({ http_status, answer, error }) => [http_status, answer?.status ?? null, error?.code ?? null])).toEqual([
      [200, 'completed', null],
      [200, 'completed', null],
      [400, null, 'VALIDATION_ERROR'],
      [404, null, 'NOT_FOUND'],
      [200, 'failed', null],
      [200, 'timed_out', null],
      [400, null, 'VALIDATION_ERROR'],
    ]);
    expect(answers[1]?.answer?.result).toEqual({ result: 42 });
  });

  test('of fifty slow calls runs them at once and leaves no warning', async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error) => void warnings.push(warning);
    process.on('warning', listen);
    const calls = Array.from({ length: 50 }, () => ({ name: 'builtin:wait', arguments: { seconds: 0.5 } }));
    const { json } = await alice.post('/api/bff/tools/call/batch', { calls });
    const times = json.answers.map(({ answer }: { answer: { execution_time_ms: number } }) => answer.execution_time_ms);
    expect(times).toHaveLength(50);
    process.off('warning', listen);
    expect(warnings).toEqual([]);
  });
});
