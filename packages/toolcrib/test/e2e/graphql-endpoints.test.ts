import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endlessAnswer, startHttpServer } from '../fixtures/http-server.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { temporaryDirectory, until } from '../running-server.ts';

let server: OpenServer;
beforeAll(async () => {
  server = await startOpenServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const text = 'type Query { pet: Int } type Mutation { add: Int }';
let count = 0;

async function register(origin: string, graphql: object = { text }) {
  const namespace = `endpoint-${++count}`;
  const body = { name: 'Shop', namespace, source_type: 'graphql', graphql: { endpoint: `${origin}/graphql`, ...graphql } };
  const { json } = await server.admin.post('/api/sources?wait=20000', body);
  return { json, call: async (tool = 'pet') => (await server.alice.call(`${namespace}:${tool}`)).json, path: `/api/sources/${json.id}` };
}

const answering =
  (status: number, headers: Record<string, string>, body: string): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(status, headers).end(body);
  };
const json = { 'content-type': 'application/json' };

describe('the answer of an endpoint to a call', () => {
  test.each([
    [
      'a page',
      answering(200, { 'content-type': 'text/html' }, '<html><title>Sign in</title>'),
      'SERVICE_UNAVAILABLE',
      200,
      'an HTML or XML page',
    ],
    ['other JSON', answering(200, json, '{"ok":true}'), 'SERVICE_UNAVAILABLE', 200, 'did not return a GraphQL response'],
    ['nothing', answering(204, {}, ''), 'SERVICE_UNAVAILABLE', 204, 'did not return a GraphQL response'],
    [
      'a redirect',
      answering(302, { location: 'http://127.0.0.1:9/elsewhere' }, ''),
      'SERVICE_UNAVAILABLE',
      302,
      'register the final address as the endpoint',
    ],
    ['a refusal', answering(400, json, '{"errors":[{"message":"Unknown argument"}]}'), 'VALIDATION_ERROR', 400, 'Unknown argument'],
    ['a refused credential', answering(401, json, '{"errors":[{"message":"Sign in"}]}'), 'UNAUTHENTICATED', 401, 'Sign in'],
    ['a limit', answering(429, { ...json, 'retry-after': '60' }, '{}'), 'RATE_LIMITED', 429, 'status 429'],
    ['a fault', answering(500, json, '{"errors":[{"message":"Oops"}]}'), 'SERVICE_UNAVAILABLE', 500, 'Oops'],
  ])('%s is an error that says what it was', async (_what, handle, code, status, words) => {
    await using endpoint = await startHttpServer(handle);
    const { call } = await register(endpoint.origin);
    expect(await call()).toMatchObject({
      success: false,
      error: { code, upstream_status: status, message: expect.stringContaining(words) },
    });
  });

  test('GraphQL under another content type is taken for what it is', async () => {
    await using endpoint = await startHttpServer(answering(200, { 'content-type': 'text/plain' }, '{"data":{"pet":7}}'));
    const { call } = await register(endpoint.origin);
    expect(await call()).toMatchObject({ success: true, structured_content: { data: { pet: 7 } } });
  });

  test('an answer without end is cut off', async () => {
    const { handle, sentBytes } = endlessAnswer();
    await using endpoint = await startHttpServer(handle);
    const { call } = await register(endpoint.origin);
    expect(await call()).toMatchObject({ success: false, error: { message: expect.stringContaining('33554432 bytes') } });
    expect(await sentBytes).toBeLessThan(100_000_000);
  });

  test('a connection that breaks is tried again for a query, and never for a mutation', async () => {
    let requests = 0;
    await using endpoint = await startHttpServer((request) => {
      requests++;
      request.socket.destroy();
    });
    const { call } = await register(endpoint.origin);
    expect(await call('add')).toMatchObject({ success: false, error: { code: 'NETWORK_ERROR', origin: 'source' } });
    expect(requests).toBe(1);
    await call('pet');
    expect(requests).toBeGreaterThan(2);
  });
});

describe('the answer of an endpoint to introspection', () => {
  test.each([
    ['a page', answering(200, {}, '<html>'), 'an HTML or XML page'],
    ['a redirect', answering(301, { location: '/' }, ''), 'status 301'],
    ['a refused credential', answering(401, json, '{}'), 'discovery_credential'],
    ['no schema', answering(200, json, '{"data":{"__schema":{"types":7}}}'), 'not the response to an introspection query'],
    [
      'a great deal of something else',
      answering(200, json, JSON.stringify({ data: 'x'.repeat(100_000) })),
      'not the response to an introspection query',
    ],
  ])('%s is an error of the source that says what to do', async (_what, handle, words) => {
    await using endpoint = await startHttpServer(handle);
    const { json: source } = await register(endpoint.origin, {});
    expect(source.status).toMatchObject({ state: 'error', message: expect.stringContaining(words) });
  });

  test('an answer without end is cut off', async () => {
    const { handle } = endlessAnswer();
    await using endpoint = await startHttpServer(handle);
    const { json: source } = await register(endpoint.origin, {});
    expect(source.status).toMatchObject({ state: 'error', message: expect.stringContaining('33554432 bytes') });
  });
});

test('a caller who gives up while the schema is read does not fail the others who wait for it', async () => {
  const held: (() => void)[] = [];
  let fetches = 0;
  await using endpoint = await startHttpServer((request, response) => {
    request.resume();
    if (request.method === 'POST') return void response.writeHead(200, json).end('{"data":{"pet":{"id":1}}}');
    const answer = () => response.writeHead(200, { 'content-type': 'text/plain' }).end('type Query { pet: Pet } type Pet { id: Int }');
    // One fetch for the registration, and one for the start of the second server, which finds the schema unchanged.
    if (++fetches > 2) held.push(answer);
    else answer();
  });
  await using folder = await temporaryDirectory();
  const graphql = { endpoint: `${endpoint.origin}/graphql`, url: `${endpoint.origin}/schema` };
  const body = { name: 'Shop', namespace: 'shop', source_type: 'graphql', graphql };
  {
    await using first = await startOpenServer({ dataDir: folder.path });
    expect((await first.admin.post('/api/sources?wait=20000', body)).json.status).toMatchObject({ state: 'running' });
  }
  await using second = await startOpenServer({ dataDir: folder.path });
  await until(async () => fetches === 2);
  await until(async () => (await second.admin.get('/api/sources/shop')).json.status.state === 'running');
  const call = (more: object) => second.alice.call('shop:pet', { _select: 'id' }, more);
  const [impatient, patient] = [call({ timeout_ms: 1000 }), call({})];
  expect((await impatient).json).toMatchObject({ success: false, status: 'timed_out' });
  await until(async () => held.length > 0);
  for (const answer of held) answer();
  expect((await patient).json).toMatchObject({ success: true, structured_content: { data: { pet: { id: 1 } } } });
});
