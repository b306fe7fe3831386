import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiClient } from '../fixtures/api-client.ts';
import { common, counted, increase, recorded } from '../fixtures/compare-replies.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';

/**
 * Requests to one address take one of two lanes: the straight one, if they are plain, and the framework's. A page of the server's own origin
 * is never plain, so the same request with its `Origin` takes the other lane.
 */
let server: OpenServer;
const path = '/api/bff/tools/call';

async function startWithOne(threads: number): Promise<void> {
  server = await startOpenServer({ threads });
  const body = { name: 'One', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' };
  const { json } = await server.admin.post('/api/sources?wait=60000', body);
  expect(json).toMatchObject({ status: { state: 'running' } });
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', minLength: 1100, maxLength: 1400 }),
  fc.json({ maxDepth: 2 }),
  fc.integer().map(String),
);
const call = fc.oneof(
  text.map((value) => ({ name: 'one:echo', arguments: { text: value } })),
  fc.record({ a: fc.integer(), b: fc.oneof(fc.integer(), fc.string()) }).map((args) => ({ name: 'one:add', arguments: args })),
  text.map((value) => ({ name: 'one:fail', arguments: { text: value } })),
  fc.constantFrom('result', 'both').map((how) => ({ name: 'one:invalid', arguments: { how } })),
  fc.constant({ name: 'builtin:calculator', arguments: { expression: '6 * 7' } }),
  fc.string({ maxLength: 20 }).map((name) => ({ name, arguments: {} })),
  fc.record({ tool_id: fc.string(), name: fc.constant('one:echo'), arguments: fc.object() }, { requiredKeys: ['name'] }),
  fc.record({ name: fc.constant('one:echo'), arguments: fc.jsonValue(), timeout_ms: fc.integer({ max: 20 }) }),
  fc.constant({ name: 'one:echo', arguments: { text: '1' }, async: 'yes' }),
);
const anyBody = fc.oneof(
  { weight: 8, arbitrary: call.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string({ minLength: 1 }) },
);

const sendPlain = (body: string, token?: string) => new ApiClient(server.url, token).request('POST', path, { body });
const sendUsual = (body: string, token?: string) =>
  new ApiClient(server.url, token).request('POST', path, { body, headers: { origin: server.url } });

/** Both lanes are the same ones where threads speak with the callers. */
describe.each([1, 2])('with %i threads', (threads) => {
  beforeAll(() => startWithOne(threads));

  afterAll(() => server[Symbol.asyncDispose]());

  test('[BFF-2] [EXEC-1] [SEC-4] a plain call is answered, recorded and counted as every other call', async () => {
    const { token } = server.alice;
    await fc.assert(
      fc.asyncProperty(anyBody, async (body) => {
        const before = await counted(server.admin);
        const plain = await sendPlain(body, token);
        const between = await counted(server.admin);
        const usual = await sendUsual(body, token);
        const after = await counted(server.admin);
        expect(common(plain)).toEqual(common(usual));
        expect(increase(before, between)).toEqual(increase(between, after));
        if (increase(between, after).length === 0) return;
        const [last, first] = await recorded(server.admin, 2);
        expect(first).toEqual(last);
      }),
      { numRuns: 150, interruptAfterTimeLimit: 60_000 },
    );
  }, 120_000);

  test.each([
    ['no token', undefined],
    ['something that is no token', 'nonsense'],
  ])('[ID-1] a caller with %s is refused alike in both lanes', async (_name, token) => {
    const body = JSON.stringify({ name: 'one:echo', arguments: { text: 'x' } });
    const plain = await sendPlain(body, token);
    expect(plain.status).toBe(401);
    expect(common(plain)).toEqual(common(await sendUsual(body, token)));
  });

  test.each([
    ['one long line', 'x'.repeat(100_000)],
    ['characters that JSON escapes', `"quoted" \\ and \u0001 ${'ü€😀'.repeat(5000)}`],
    ['JSON', JSON.stringify({ list: Array.from({ length: 500 }, String) })],
  ])('[EXEC-2] a large text of %s is passed on as it is', async (_name, large) => {
    const { token } = server.alice;
    const body = JSON.stringify({ name: 'one:echo', arguments: { text: large } });
    const plain = await sendPlain(body, token);
    expect(plain.json).toMatchObject({ success: true, text: large, content: [{ type: 'text', text: large }] });
    expect(common(plain)).toEqual(common(await sendUsual(body, token)));
  });
});
