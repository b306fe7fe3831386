import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiClient } from '../fixtures/api-client.ts';
import { common, counted, increase, recorded } from '../fixtures/compare-replies.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';

/**
 * Requests to the door come in by one of two ways: the lane, if they are plain, and the framework. A page of the server's own origin is never
 * plain, so the same request with its `Origin` comes in by the other way.
 */
let server: OpenServer;

interface Sent {
  body: string;
  headers: Record<string, string>;
  path: string;
}

const accept = 'application/json, text/event-stream';
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'two-ways', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

function send({ body, headers, path }: Sent, own: Record<string, string> = {}, token: string | undefined = server.alice.token) {
  return new ApiClient(server.url, token).request('POST', path, { body, headers: { accept, ...headers, ...own } });
}

const sendUsual = (sent: Sent, token?: string) => send(sent, { origin: server.url }, token);

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', minLength: 1100, maxLength: 1400 }),
  fc.json({ maxDepth: 2 }),
);
const call = fc.oneof(
  text.map((value) => ({ name: 'one_echo', arguments: { text: value } })),
  fc.record({ a: fc.integer(), b: fc.oneof(fc.integer(), fc.string()) }).map((args) => ({ name: 'one_add', arguments: args })),
  text.map((value) => ({ name: 'one_fail', arguments: { text: value } })),
  fc.constantFrom('result', 'both').map((how) => ({ name: 'one_invalid', arguments: { how } })),
  fc.constant({ name: 'builtin_calculator', arguments: { expression: '6 * 7' } }),
  fc.constant({ name: 'one_elicit', arguments: { message: 'Where to?' } }),
  fc.constant({ name: 'one_progress', arguments: { steps: 3 }, _meta: { progressToken: 'p' } }),
  fc.string({ maxLength: 20 }).map((name) => ({ name, arguments: {} })),
  fc.record({ name: fc.constant('one_echo'), arguments: fc.jsonValue() }),
);
const id = fc.oneof({ weight: 8, arbitrary: fc.nat() }, { weight: 1, arbitrary: fc.string({ maxLength: 300 }) }, fc.constant(null));
const request = fc.oneof(
  { weight: 6, arbitrary: fc.record({ id, method: fc.constant('tools/call'), params: call }) },
  fc.record({ id, method: fc.constantFrom('ping', 'tools/list', 'prompts/list', 'server/discover', 'nonsense') }),
  fc.record({ method: fc.constantFrom('notifications/initialized', 'notifications/cancelled') }),
);
const pathOf = fc.oneof(
  { weight: 6, arbitrary: fc.constant('/mcp') },
  fc.constantFrom(
    '/mcp/everything',
    '/mcp/nobody',
    '/mcp?mode=search',
    '/mcp/everything?names=own&mode=list',
    '/mcp?mode=list&mode=list',
    '/mcp?x=1',
  ),
);

interface Message {
  method: string;
  params?: { name?: string; _meta?: object };
}

const modern = fc.record({ message: request, path: pathOf, lies: fc.boolean() }).map(({ message, path, lies }): Sent => {
  const { method, params = {} } = message as Message;
  const body = JSON.stringify({ jsonrpc: '2.0', ...message, params: { ...params, _meta: { ...envelope, ...params._meta } } });
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': lies ? 'tools/list' : method };
  if (params.name === undefined) return { body, path, headers };
  return { body, path, headers: { ...headers, 'mcp-name': `=?base64?${Buffer.from(params.name).toString('base64')}?=` } };
});
const legacyBody = fc.oneof(
  { weight: 8, arbitrary: request.map((message) => JSON.stringify({ jsonrpc: '2.0', ...message })) },
  fc.array(request, { maxLength: 3 }).map((messages) => JSON.stringify(messages.map((message) => ({ jsonrpc: '2.0', ...message })))),
  fc.json(),
  fc.string({ minLength: 1 }),
);

async function sessionId(token: string | undefined): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'two-ways', version: '1' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const { headers } = await send({ body, path: '/mcp', headers: {} }, {}, token);
  return headers.get('mcp-session-id') ?? '';
}

async function answersAlike(sent: Sent): Promise<void> {
  const before = await counted(server.admin);
  const plain = await send(sent);
  const between = await counted(server.admin);
  const usual = await sendUsual(sent);
  const after = await counted(server.admin);
  expect(common(plain)).toEqual(common(usual));
  expect(increase(before, between)).toEqual(increase(between, after));
  const count = increase(between, after).length;
  if (count === 0) return;
  const [last, first] = await recorded(server.admin, 2);
  expect(first).toEqual(last);
}

async function startWithOne(threads: number): Promise<void> {
  server = await startOpenServer({ threads });
  const body = { name: 'One', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' };
  const { json } = await server.admin.post('/api/sources?wait=60000', body);
  expect(json).toMatchObject({ status: { state: 'running' } });
}

const often = { numRuns: 80, interruptAfterTimeLimit: 60_000 };

/** Both ways are the same ones where threads speak with the callers. */
describe.each([1, 2])('with %i threads', (threads) => {
  beforeAll(() => startWithOne(threads), 120_000);

  afterAll(() => server[Symbol.asyncDispose]());

  test('[DOOR-2] [DOOR-3] a request without a session is answered, recorded and counted alike by both ways', async () => {
    await fc.assert(fc.asyncProperty(modern, answersAlike), often);
  }, 120_000);

  test('[DOOR-2] [DOOR-3] a request of a session is answered, recorded and counted alike by both ways', async () => {
    const id = await sessionId(server.alice.token);
    const of = fc
      .record({ body: legacyBody, path: pathOf })
      .map(({ body, path }): Sent => ({ body, path, headers: { 'mcp-session-id': id } }));
    await fc.assert(fc.asyncProperty(of, answersAlike), often);
  }, 120_000);

  test('[DOOR-2] batches and requests outside sessions are answered alike by both ways', async () => {
    const of = fc.record({ body: legacyBody, path: pathOf }).map(({ body, path }): Sent => ({ body, path, headers: {} }));
    await fc.assert(
      fc.asyncProperty(of, async (sent) => {
        expect(common(await send(sent))).toEqual(common(await sendUsual(sent)));
      }),
      often,
    );
  }, 120_000);

  test('[DOOR-4] a session is unknown with the token of another person by both ways', async () => {
    const sent: Sent = {
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      path: '/mcp',
      headers: { 'mcp-session-id': await sessionId(server.alice.token) },
    };
    expect((await send(sent)).status).toBe(200);
    const plain = await send(sent, {}, server.bob.token);
    expect(plain.status).toBe(404);
    expect(common(plain)).toEqual(common(await sendUsual(sent, server.bob.token)));
  });

  test.each([
    ['one long line', 'x'.repeat(100_000)],
    ['characters that JSON escapes', `"quoted" \\ and \u0001 ${'ü€😀'.repeat(5000)}`],
  ])('[DOOR-5] a large text of %s is passed on as it is', async (_name, large) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'one_echo', arguments: { text: large } } });
    const plain = await send({ body, path: '/mcp', headers: {} });
    expect(plain.json.result.content).toEqual([{ type: 'text', text: large }]);
  });

  test.each([
    ['a session', async () => ({ 'mcp-session-id': await sessionId(server.alice.token) }), undefined],
    [
      'no session',
      () => Promise.resolve({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'one_slow' }),
      envelope,
    ],
  ])(
    '[DOOR-5] a call of %s that takes long becomes a stream by both ways',
    async (_name, headersOf, meta) => {
      const params = { name: 'one_slow', arguments: { ms: 1500, text: 'late' }, ...(meta && { _meta: meta }) };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
      const sent: Sent = { body, path: '/mcp', headers: await headersOf() };
      const plain = await send(sent);
      expect(plain.headers.get('content-type')).toBe('text/event-stream');
      expect(plain.text).toContain('"text":"late"');
      expect(common(plain)).toEqual(common(await sendUsual(sent)));
    },
    60_000,
  );
});
