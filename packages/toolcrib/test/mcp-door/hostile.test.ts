import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SseWriter } from '../../src/mcp-door/sse-writer.ts';
import { fixture, grantEverything } from '../fixtures/open-server.ts';
import { startTestServer, untilSeen, type TestServer } from '../running-server.ts';
import { connectToDoor } from './connect.ts';

let server: TestServer;
const tokens = { alice: '', bob: '' };
beforeAll(async () => {
  server = await startTestServer();
  const admin = await server.as('admin');
  await grantEverything(admin);
  await admin.post('/api/sources?wait=60000', { name: 'One', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' });
  for (const who of ['alice', 'bob'] as const) tokens[who] = (await server.running.mint?.(who)) ?? '';
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

type Who = keyof typeof tokens;

function send(
  body: string | undefined,
  headers: Record<string, string> = {},
  { who = 'alice', method = 'POST' }: { who?: Who; method?: string } = {},
) {
  return fetch(`${server.url}/mcp`, {
    method,
    headers: {
      authorization: `Bearer ${tokens[who]}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
}

const request = (more: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', ...more });
const initialize = request({
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
});
const stateless = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const modernHead = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'one_echo' };

async function openSession(who: Who = 'alice'): Promise<string> {
  const response = await send(initialize, {}, { who });
  await response.text();
  return response.headers.get('mcp-session-id') ?? '';
}

async function isWell(): Promise<boolean> {
  const response = await send(request({ method: 'ping' }), { 'mcp-session-id': await openSession() });
  return response.status === 200;
}

const malformed: [what: string, body: string, status: number, code: number][] = [
  ['nothing', '', 400, -32_700],
  ['half an object', '{"jsonrpc":"2.0","id":1', 400, -32_700],
  ['a text', '"tools/list"', 400, -32_600],
  ['null', 'null', 400, -32_600],
  ['an empty batch', '[]', 400, -32_600],
  ['a batch of numbers', '[1,2]', 400, -32_600],
  ['a batch of thousands', `[${Array.from({ length: 5000 }, () => request({})).join(',')}]`, 400, -32_600],
  ['brackets to the bottom', `${'['.repeat(200_000)}${']'.repeat(200_000)}`, 400, -32_700],
  ['an id that is an object', request({ id: { a: 1 } }), 400, -32_600],
  ['an id that is null', request({ id: null }), 400, -32_600],
  ['an id that is a novel', request({ id: 'x'.repeat(100_000) }), 400, -32_600],
  ['an id beyond all numbers', '{"jsonrpc":"2.0","id":1e999,"method":"tools/list"}', 400, -32_600],
  ['params that are a list', request({ params: [1] }), 200, -32_602],
  ['params that are a text', request({ params: 'x' }), 200, -32_602],
  ['a method nobody knows', request({ method: 'x'.repeat(50_000) }), 200, -32_601],
  ['a method of every object', request({ method: '__proto__' }), 200, -32_601],
  ['a tool that is an object', request({ method: 'tools/call', params: { name: {} } }), 200, -32_602],
  ['arguments that are a list', request({ method: 'tools/call', params: { name: 'one_echo', arguments: [] } }), 200, -32_602],
  ['a tool of every object', request({ method: 'tools/call', params: { name: 'constructor' } }), 200, -32_602],
  ['a cursor of its own', request({ params: { cursor: 'x' } }), 200, -32_602],
  ['a cursor that is a number', request({ params: { cursor: 7 } }), 200, -32_602],
  ['a resource that is a number', request({ method: 'resources/read', params: { uri: 7 } }), 200, -32_602],
  ['a subscription without a session', request({ method: 'resources/subscribe', params: { uri: 'x' } }), 200, -32_600],
  ['a level nobody knows', request({ method: 'logging/setLevel', params: { level: 'loud' } }), 200, -32_602],
  ['a reference to nothing', request({ method: 'completion/complete', params: { ref: null } }), 200, -32_602],
  ['two handshakes at once', `[${initialize},${initialize}]`, 400, -32_600],
  [
    'a version that is an object',
    request({ params: { _meta: { ...stateless, 'io.modelcontextprotocol/protocolVersion': {} } } }),
    400,
    -32_602,
  ],
];

test.each(malformed)('[DOOR-2] %s is refused with an error of the protocol', async (_what, body, status, code) => {
  const response = await send(body);
  expect([response.status, await response.json()]).toMatchObject([status, { jsonrpc: '2.0', error: { code } }]);
  expect(await isWell()).toBe(true);
});

const strangeStates = ['', 'x', 7, {}, 'v1.a.b.c.d', 'x'.repeat(100_000)];
test.each(strangeStates)('[DOOR-5] a requestState of its own making is unknown: %j', async (requestState) => {
  const params = { name: 'one_echo', arguments: { text: 'x' }, requestState, _meta: stateless };
  const response = await send(request({ method: 'tools/call', params }), modernHead);
  expect(await response.json()).toMatchObject({ error: { code: -32_602, message: expect.stringContaining('begin anew') } });
});

const strangeIds = ['x', '550e8400-e29b-41d4-a716-446655440000', 'v1.a.b.c.d', '../../etc/passwd', 'x'.repeat(8000), '%00', '{"a":1}'];
test.each(strangeIds)('[DOOR-4] a session id of another format is unknown: %s', async (id) => {
  for (const method of ['POST', 'GET', 'DELETE']) {
    const response = await send(method === 'POST' ? request({}) : undefined, { 'mcp-session-id': id }, { method });
    expect(response.status).toBe(404);
  }
});

test('[DOOR-4] no session id of alice opens with the token of bob, whatever is asked with it', async () => {
  const id = await openSession('alice');
  for (const method of ['POST', 'GET', 'DELETE']) {
    const response = await send(method === 'POST' ? request({}) : undefined, { 'mcp-session-id': id }, { method, who: 'bob' });
    expect(response.status).toBe(404);
  }
  expect((await send(request({ method: 'ping' }), { 'mcp-session-id': id })).status).toBe(200);
});

test('[DOOR-4] [DOOR-5] nobody cancels, answers or reads what belongs to the session of another', async () => {
  await using connected = await connectToDoor({ url: `${server.url}/mcp`, era: 'legacy', token: tokens.alice });
  const { client } = connected;
  const asked = Promise.withResolvers<{ action: 'accept'; content: { said: string } }>();
  const isAsked = Promise.withResolvers<void>();
  let eventId = '';
  client.setRequestHandler('elicitation/create', () => {
    isAsked.resolve();
    return asked.promise;
  });
  await connected.connect();
  const call = client.callTool(
    { name: 'one_elicit', arguments: { message: 'Where to?' } },
    { onresumptiontoken: (token: string) => void (eventId = token) },
  );
  await isAsked.promise;

  const theirs = { 'mcp-session-id': await openSession('bob') };
  for (let id = 0; id < 10; id++) {
    const cancel = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
    const answer = JSON.stringify({
      jsonrpc: '2.0',
      id: `toolcrib-here-${id}`,
      result: { action: 'accept', content: { said: 'Nowhere' } },
    });
    for (const body of [cancel, answer]) expect((await send(body, theirs, { who: 'bob' })).status).toBe(202);
  }
  expect(eventId).toMatch(/^[\w-]+\.\d+$/);
  // It is a stream of his own, without anything of hers.
  const stream = await send(undefined, { ...theirs, 'last-event-id': `${eventId.split('.')[0]}.0` }, { who: 'bob', method: 'GET' });
  const { value } = (await stream.body?.getReader().read()) ?? {};
  expect(Buffer.from(value ?? []).toString()).not.toContain(eventId.split('.')[0]);

  asked.resolve({ action: 'accept', content: { said: 'Home' } });
  expect(JSON.stringify((await call).content)).toContain('Home');
});

test('[DOOR-5] streams of one person are bounded, and the refusal says so', async () => {
  const headers = { 'mcp-session-id': await openSession('bob') };
  const ending = new AbortController();
  const open = () =>
    fetch(`${server.url}/mcp`, {
      headers: { authorization: `Bearer ${tokens.bob}`, accept: 'text/event-stream', ...headers },
      signal: ending.signal,
    });
  const statuses: number[] = [];
  for (let n = 0; n < 300; n++) {
    const response = await open();
    statuses.push(response.status);
    if (response.status !== 429) continue;
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('streams open') } });
    break;
  }
  expect(statuses.at(-1)).toBe(429);
  expect(statuses.length).toBeGreaterThan(100);
  // Nobody else has fewer for it, and they are free again once they are closed.
  expect((await send(undefined, { 'mcp-session-id': await openSession('alice') }, { method: 'GET' })).status).toBe(200);
  ending.abort();
  await expect.poll(async () => (await send(undefined, headers, { who: 'bob', method: 'GET' })).status, { timeout: 30_000 }).toBe(200);
}, 60_000);

test('[DOOR-4] sessions without number cost the server nothing, and the first still works', async () => {
  const first = await openSession('bob');
  for (let n = 0; n < 30; n++) await Promise.all(Array.from({ length: 50 }, () => openSession('bob')));
  expect((await send(request({ method: 'ping' }), { 'mcp-session-id': first }, { who: 'bob' })).status).toBe(200);
}, 60_000);

describe('a client that does not read', () => {
  test('[DOOR-5] loses its stream before it costs memory', async () => {
    let written = 0;
    const gone = Promise.withResolvers<void>();
    const http = createServer((_request, response) => {
      const writer = new SseWriter(response, []);
      writer.onClose(gone.resolve);
      const json = JSON.stringify('x'.repeat(100_000));
      const fill = () => {
        for (let n = 0; n < 10 && !writer.isClosed; n++, written++) writer.message(json);
        if (!writer.isClosed) setImmediate(fill);
      };
      fill();
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const { port } = http.address() as AddressInfo;
    const reading = get({ port, host: '127.0.0.1' });
    reading.on('error', () => undefined);
    const [response] = (await once(reading, 'response')) as [NodeJS.ReadableStream];
    response.pause();
    await gone.promise;
    await untilSeen(() => written > 0);
    expect(written * 100_000).toBeLessThan(200_000_000);
    reading.destroy();
    http.close();
  }, 60_000);
});
