import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerSchema, callRecordSchema } from '../../src/api.ts';
import type { CallRecord } from '../../src/model/call.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { documentOf, operation } from '../fixtures/document-service.ts';
import { startHttpServer, type RunningServer } from '../fixtures/http-server.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { until } from '../running-server.ts';

/** [EXEC-3] Every failed call says whose failure it was: to its caller, in the record, and in the metrics. */
let server: OpenServer;
let service: RunningServer;
let admin: ApiClient;
let alice: ApiClient;

beforeAll(async () => {
  service = await startHttpServer((request, response) => {
    const status = Number(/\d{3}/.exec(request.url ?? '')?.[0]);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message: `it is ${status}` }));
  });
  server = await startOpenServer();
  ({ admin, alice } = server);
  const parameters = [{ name: 'status', in: 'path', required: true, schema: { type: 'integer' } }];
  const paths = { '/{status}': { get: operation('get', { parameters }) } };
  const text = JSON.stringify(documentOf(paths, { servers: [{ url: service.origin }] }));
  // Each failure of its own: none is refused because of those before.
  const limits = { breaker: { failures: 0, open_ms: 1000 } };
  await register({ name: 'Api', source_type: 'openapi', openapi: { text }, limits });
  await register({ name: 'Guarded', source_type: 'openapi', openapi: { text }, limits: { breaker: { failures: 2, open_ms: 60_000 } } });
  await register({ name: 'Mcp', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton', limits });
  await register({ name: 'Hasty', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton', limits: { ...limits, timeout_ms: 50 } });
  await register({
    name: 'Narrow',
    mcp_command: fixture('plain'),
    mcp_lifecycle_mode: 'singleton',
    limits: { ...limits, concurrency: 1, queue: 1 },
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

async function register(form: object): Promise<void> {
  const { json } = await admin.post('/api/sources?wait=60000', form);
  expect(json).toMatchObject({ status: { state: 'running' } });
}

const recordOf = async (callId: string) => callRecordSchema.parse((await admin.get(`/api/calls/${callId}`)).json);
const newest = async (tool: string) => (await admin.get(`/api/calls?limit=1&tool=${tool}`)).json.calls[0];
const counted = async (labels: string) =>
  Number(new RegExp(`^toolcrib_calls_total\\{${labels}\\} (\\S+)$`, 'm').exec((await admin.get('/metrics')).text)?.[1] ?? 0);

describe('the error of a call', () => {
  test.each([
    ['a tool that says so', 'mcp:fail', { text: 'near "SELEC": syntax error' }, 'SERVICE_UNAVAILABLE', 'tool'],
    ['a server that refuses the arguments', 'mcp:refuse', { code: -32602, message: 'no' }, 'VALIDATION_ERROR', 'tool'],
    ['a built-in tool that cannot', 'builtin:calculator', { expression: '1/0' }, 'SERVICE_UNAVAILABLE', 'tool'],
    ['a service that has no such thing', 'api:get', { status: 404 }, 'NOT_FOUND', 'tool'],
    ['a service that does not take it', 'api:get', { status: 422 }, 'VALIDATION_ERROR', 'tool'],
    ['a service that refuses our credential', 'api:get', { status: 401 }, 'UNAUTHENTICATED', 'source'],
    ['a service that is broken', 'api:get', { status: 500 }, 'SERVICE_UNAVAILABLE', 'source'],
    ['a process that crashed', 'mcp:crash', { code: 3 }, 'SERVICE_UNAVAILABLE', 'source'],
    ['an answer that is none', 'mcp:invalid', { how: 'result' }, 'SERVICE_UNAVAILABLE', 'source'],
    ['a server that is too slow', 'hasty:hold', { key: 'never' }, 'NETWORK_ERROR', 'source'],
    ['a tool that another tool calls', 'builtin:call_tool', { name: 'mcp:fail', arguments: {} }, 'SERVICE_UNAVAILABLE', 'tool'],
    ['a source behind another tool', 'builtin:call_tool', { name: 'mcp:crash', arguments: {} }, 'SERVICE_UNAVAILABLE', 'source'],
    ['a tool that is not there for another', 'builtin:call_tool', { name: 'no:where' }, 'NOT_FOUND', 'caller'],
  ])('has the code and origin that fit %s', async (_what, name, args, code, origin) => {
    const { status, json } = await alice.call(name, args);
    expect(status).toBe(200);
    expect(answerSchema.parse(json).error).toMatchObject({ code, origin });
    expect(await recordOf(json.call_id)).toMatchObject({ tool: name, error_code: code, error_origin: origin });
    expect((await alice.get(`/api/bff/calls/${json.call_id}`)).json).toMatchObject({ error_code: code, error_origin: origin });
    expect(await counted(`status="${json.status}",code="${code}",origin="${origin}"`)).toBeGreaterThan(0);
  });

  test('has the origin caller when the caller gave too little time or cancelled', async () => {
    const late = (await alice.call('mcp:hold', { key: 'a' }, { timeout_ms: 30 })).json;
    expect([late.status, late.error.code, late.error.origin]).toEqual(['timed_out', 'NETWORK_ERROR', 'caller']);
    const begun = (await alice.call('mcp:hold', { key: 'b' }, { async: true })).json;
    await alice.delete(begun.location);
    const { answer } = await until(async () => {
      const { json } = await alice.get(begun.location);
      return json.answer !== null && json;
    });
    expect([answer.status, answer.error.origin]).toEqual(['cancelled', 'caller']);
    expect(await recordOf(begun.call_id)).toMatchObject({ status: 'cancelled', error_origin: 'caller' });
  });

  test('has the origin gateway when there was never a free place', async () => {
    const { call_id } = (await alice.call('narrow:hold', { key: 'a' }, { async: true })).json;
    const waited = (await alice.call('narrow:hold', { key: 'b' }, { timeout_ms: 50 })).json;
    expect([waited.status, waited.error.origin]).toEqual(['timed_out', 'gateway']);
    await alice.delete(`/api/bff/calls/${call_id}`);
  });

  test('[BFF-6] can be searched for by origin', async () => {
    for (const origin of ['tool', 'source', 'gateway', 'caller']) {
      const { calls } = (await admin.get(`/api/calls?origin=${origin}`)).json;
      expect([origin, new Set(calls.map((call: CallRecord) => call.error_origin))]).toEqual([origin, new Set([origin])]);
    }
    const { calls } = (await admin.get('/api/calls?origin=source,gateway&tool=hasty:hold')).json;
    expect(calls).toEqual([expect.objectContaining({ tool: 'hasty:hold', error_origin: 'source' })]);
    expect((await admin.get('/api/calls?origin=nobody')).status).toBe(400);
  });

  test('is absent when the call succeeded', async () => {
    const { json } = await alice.call('mcp:echo', { text: 'hello' });
    expect(json.error).toBeNull();
    expect(await recordOf(json.call_id)).toMatchObject({ error_code: null, error_origin: null });
  });
});

describe('a refused call', () => {
  test.each([
    ['arguments that do not fit', 'api:get', { status: 'x' }, 400, 'caller'],
    ['a tool there is none of', 'no:where', {}, 404, 'caller'],
  ])('is recorded with the origin that fits %s, and answered with the usual fields only', async (_what, name, args, status, origin) => {
    const reply = await alice.call(name, args);
    expect([reply.status, Object.keys(reply.json).filter((key) => !['code', 'message', 'field'].includes(key))]).toEqual([status, []]);
    expect(await newest(name)).toMatchObject({ error_code: reply.json.code, error_origin: origin });
  });

  test('[EXEC-7] [LIFE-1] leaves breaker and health to the failures of the source itself', async () => {
    const calls = async (status: number, times: number) => {
      for (let time = 0; time < times; time++) await alice.call('guarded:get', { status });
      return (await admin.get('/api/sources/guarded')).json;
    };
    for (const status of [400, 404, 409, 422]) expect(await calls(status, 4)).toMatchObject({ breaker: 'closed', health: 'healthy' });
    for (let time = 0; time < 4; time++) await alice.call('guarded:get', { status: 'x' });
    expect(await calls(500, 2)).toMatchObject({ breaker: 'open', health: 'degraded' });
    const refused = await alice.call('guarded:get', { status: 200 });
    expect([refused.status, refused.json.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(await newest('guarded:get')).toMatchObject({ error_code: 'SERVICE_UNAVAILABLE', error_origin: 'source' });
  });

  test('[OPS-1] is not counted as a failure of its source', async () => {
    const { text } = await admin.get('/metrics');
    const faults = [...text.matchAll(/^toolcrib_source_errors_total\{source="(api|mcp|hasty|guarded)",code="(\w+)"\} (\d+)$/gm)];
    expect(Object.fromEntries(faults.map(([, source, code, count]) => [`${source} ${code}`, Number(count)]))).toEqual({
      'api UNAUTHENTICATED': 1,
      'api SERVICE_UNAVAILABLE': 1,
      // Two crashes, and an answer that was none.
      'mcp SERVICE_UNAVAILABLE': 3,
      'hasty NETWORK_ERROR': 1,
      'guarded SERVICE_UNAVAILABLE': 2,
    });
  });
});
