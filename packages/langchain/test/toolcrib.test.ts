import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixture, startOpenServer, type OpenServer } from '../../toolcrib/test/fixtures/open-server.ts';
import { startServerWithIssuer, until, userClaims } from '../../toolcrib/test/running-server.ts';
import type { CribTool } from '../src/crib-tool.ts';
import { createToolcrib, type Toolcrib, type ToolcribOptions } from '../src/toolcrib.ts';
import { ToolCallError, ToolcribError, ToolNotFoundError, ValidationError } from '../src/index.ts';
import { callAsModel, toolNamed } from './called-tool.ts';

let server: OpenServer;
let crib: Toolcrib;
let tools: CribTool[];

const asAlice = (options: Partial<ToolcribOptions> = {}) =>
  createToolcrib({ url: server.url, token: server.alice.token ?? '', ...options });
const named = (name: string) => toolNamed(tools, name);

beforeAll(async () => {
  server = await startOpenServer();
  await server.admin.post('/api/sources?wait=30000', { name: 'One', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' });
  crib = asAlice();
  tools = await crib.tools();
});
afterAll(() => server[Symbol.asyncDispose]());

describe("[LC-1] a user's tools from a running Toolcrib", () => {
  test('have names that every model accepts, and metadata that identifies them', async () => {
    for (const tool of tools) expect(tool.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    const { json } = await server.alice.get('/api/bff/tools');
    expect(tools.map(({ name }) => name)).toEqual(json.tools.map((tool: { model_name: string }) => tool.model_name));
    const listed = json.tools.find((tool: { name: string }) => tool.name === 'one:echo');
    expect(named('one_echo')).toMatchObject({
      description: 'The tool echo of the fixture server.',
      schema: listed.input_schema,
      responseFormat: 'content_and_artifact',
      metadata: { name: 'one:echo', tool_id: listed.tool_id, annotations: { readOnlyHint: true } },
    });
  });

  test('can be searched and chosen by group and name, and differ between users', async () => {
    const names = async (of: Promise<CribTool[]>) => (await of).map(({ name }) => name);
    expect((await names(crib.tools({ q: 'calculator' })))[0]).toBe('builtin_calculator');
    expect(await names(crib.tools({ q: 'tool text time', limit: 2 }))).toHaveLength(2);
    expect(await names(crib.tools({ group: 'everything' }))).toEqual(tools.map(({ name }) => name));
    expect(await names(crib.tools({ group: 'no-such' }))).toEqual([]);
    const two = { names: ['one:echo', 'builtin_uuid', 'one:not-there'] };
    expect(await names(crib.tools(two))).toEqual(['builtin_uuid', 'one_echo']);
    const aborted = AbortSignal.abort(new Error('changed my mind'));
    await expect(crib.tools({ signal: aborted })).rejects.toThrow('changed my mind');
  });

  test('are read to the last page', async () => {
    await using own = await startOpenServer();
    await own.admin.post('/api/sources?wait=30000', { name: 'Many', mcp_command: fixture('pages', '1200', '400') });
    const many = await createToolcrib({ url: own.url, token: own.alice.token ?? '' }).tools();
    expect(new Set(many.map(({ name }) => name)).size).toBe((await own.alice.get('/api/bff/tools?limit=1')).json.total);
    expect(many.length).toBeGreaterThan(1200);
  });

  test('give a model the text of an answer and keep the whole answer as its artifact', async () => {
    const message = await callAsModel(named('one_add'), { a: 2, b: 40 });
    expect(message).toMatchObject({ content: 'sum: 42', status: 'success', tool_call_id: 'call-1', name: 'one_add' });
    expect(message.artifact).toMatchObject({ call_id: expect.any(String), structured_content: { sum: 42 }, text: '42', success: true });
    expect(await named('one_add').invoke({ a: 2, b: 40 })).toBe('sum: 42');
    const structuredContent = { order: { lines: ['a', 'b'], note: 'first\nsecond' }, when: '2026-11-16' };
    const given = await callAsModel(named('one_give'), {
      result: { content: [{ type: 'text', text: 'seen by others' }], structuredContent },
    });
    expect(given.content).toBe('order:\n  lines:\n    - a\n    - b\n  note: |-\n    first\n    second\nwhen: "2026-11-16"');
  });

  test('show pictures as pictures, and say where the rest of a large answer is kept', async () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' };
    const seen = await callAsModel(named('one_give'), { result: { content: [{ type: 'text', text: 'Look:' }, image] } });
    expect(seen.content).toEqual([
      { type: 'text', text: 'Look:' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ]);
    const huge = await callAsModel(named('one_huge'), { bytes: 2_000_000 });
    expect(huge.artifact.metadata).toMatchObject({ truncated: true, artifacts: [{ n: 1, url: expect.stringContaining('/artifacts/1') }] });
  });

  test('can be used by many at once', async () => {
    const numbers = Array.from({ length: 40 }, (_, n) => n);
    const sums = await Promise.all(numbers.map((n) => callAsModel(named('one_add'), { a: n, b: 1 })));
    expect(sums.map(({ content }) => content)).toEqual(numbers.map((n) => `sum: ${n + 1}`));
  });

  test('respect a timeout', async () => {
    const hasty = await asAlice({ timeoutMs: 50 }).tools({ names: ['one:hold'] });
    const message = await callAsModel(toolNamed(hasty, 'one_hold'), { key: 'never' });
    expect(message).toMatchObject({ status: 'error', content: 'one:hold did not answer within 50 ms', artifact: { status: 'timed_out' } });
  });

  test('are cancelled upstream when their run is aborted, with and without streaming', async () => {
    const upstream = async (name: string) => (await server.alice.call(`one:${name}`)).json.result as unknown[];
    for (const [key, callbacks] of Object.entries({ plain: undefined, streamed: [{ handleCustomEvent: () => undefined }] })) {
      const before = (await upstream('cancelled')).length;
      const abort = new AbortController();
      const held = callAsModel(named('one_hold'), { key }, { signal: abort.signal, callbacks });
      await until(async () => (await upstream('held')).includes(key));
      abort.abort(new Error('the user has gone'));
      await expect(held).rejects.toThrow('the user has gone');
      await until(async () => (await upstream('cancelled')).length > before);
    }
  });
});

describe('[LC-1] [EXEC-4] the error of a failed call', () => {
  const long = 'x'.repeat(3000);
  test.each([
    ['the message', { message: 'No stock', error: 'other' }, [], /^The tool reported: No stock$/],
    ['a text as error', { error: 'Broken pipe', detail: 'other' }, [], /^The tool reported: Broken pipe$/],
    ['the message of an error', { error: { message: 'Too deep' }, detail: 'other' }, [], /^The tool reported: Too deep$/],
    ['the detail', { detail: 'Not today' }, [], /^The tool reported: Not today$/],
    [
      'code and retriable',
      { message: 'Slow', code: 'E_TIMEOUT', retriable: false },
      [],
      /^The tool reported: Slow \(code=E_TIMEOUT retriable=false\)$/,
    ],
    ['other spellings', { detail: 'Slow', statusCode: 503, retryable: 'yes' }, [], /^The tool reported: Slow \(code=503 retriable=true\)$/],
    ['the text', {}, [{ type: 'text', text: 'The printer is on fire' }], /^The tool reported: The printer is on fire$/],
    ['the raw result, cut', { odd: long }, [], /^The tool reported: .{2000}$/],
  ])('takes its message from %s', async (_, structuredContent, content, said) => {
    const args = { result: { isError: true, content, structuredContent } };
    const message = await callAsModel(named('one_give'), args);
    expect(message).toMatchObject({ status: 'error', tool_call_id: 'call-1', name: 'one_give', artifact: { is_error: true } });
    expect(message.content).toMatch(said);
    const thrown = await named('one_give')
      .invoke(args)
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(ToolCallError);
    expect(thrown).toBeInstanceOf(ToolcribError);
    expect(thrown).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      origin: 'tool',
      message: message.content,
      cause: structuredContent,
      answer: { is_error: true },
    });
  });

  test.each([
    [-32_602, ValidationError, 'VALIDATION_ERROR'],
    [-32_601, ToolNotFoundError, 'NOT_FOUND'],
    [-32_603, ToolCallError, 'SERVICE_UNAVAILABLE'],
  ])('[EXEC-6] has the class that fits the code the server sent: %i', async (rpc, Class, code) => {
    const thrown = await named('one_refuse')
      .invoke({ code: rpc, message: 'not like this' })
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Class);
    expect(thrown).toMatchObject({ code, origin: 'tool', message: 'The tool reported: not like this', answer: { success: false } });
  });

  test('[EXEC-6] has the class that fits the refusal of Toolcrib', async () => {
    const thrown = await named('builtin_calculator')
      .invoke({})
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(ValidationError);
    expect(thrown).toMatchObject({ code: 'VALIDATION_ERROR', origin: 'caller', answer: undefined });
  });

  test('says what to do next when a call was refused', async () => {
    const wrong = await callAsModel(named('builtin_calculator'), { sum: '6 * 7' });
    const said =
      'arguments.expression is required; arguments.sum is not a parameter of this tool. Correct the arguments of builtin_calculator and call it again.';
    expect(wrong).toMatchObject({ status: 'error', content: said });

    const { tool_id } = named('one_echo').metadata as { tool_id: string };
    await server.admin.patch(`/api/tools/${tool_id}`, { limits: { rate_per_second: 0.01, burst: 1 } });
    await callAsModel(named('one_echo'), { text: 'first' });
    const limited = await callAsModel(named('one_echo'), { text: 'second' });
    expect(limited.status).toBe('error');
    expect(limited.content).toMatch(/Wait \d+ s before you try again\.$/);
    await server.admin.patch(`/api/tools/${tool_id}`, { hidden: true, limits: null });
    const gone = await callAsModel(named('one_echo'), { text: 'third' });
    expect(gone.content).toBe('The tool one_echo no longer exists, or this user may not use it. Use another tool.');
    await server.admin.patch(`/api/tools/${tool_id}`, { hidden: null });
  });

  test('also tells about bad tokens, addresses and connections', async () => {
    await expect(asAlice({ token: 'nonsense' }).tools()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(asAlice({ token: () => Promise.reject(new Error('no session')) }).tools()).rejects.toThrow('no session');
    await expect(asAlice({ url: 'http://127.0.0.1:9' }).tools()).rejects.toMatchObject({
      code: 'NETWORK_ERROR',
      message: expect.stringContaining('http://127.0.0.1:9 could not be reached'),
    });
    for (const url of ['', 'ftp://example.com', 'http://user:password@example.com', 'http://example.com/?a=b'])
      expect(() => asAlice({ url })).toThrow('url must be the address of a Toolcrib');
    // Somebody else's page, and an address that is only nearly right.
    await expect(asAlice({ url: `${server.url}/api` }).tools()).rejects.toBeInstanceOf(ToolcribError);
  });
});

test('[LC-1] an expired token is renewed, and the call is made once', async () => {
  await using own = await startServerWithIssuer();
  const { issuer, server: trusting } = own;
  const old = await issuer.sign({ ...userClaims, exp: Math.floor(Date.now() / 1000) - 600 });
  const fresh = await issuer.sign(userClaims);
  const refused: (string | undefined)[] = [];
  let current = old;
  const renewing = createToolcrib({
    url: trusting.url,
    token(previous) {
      refused.push(previous);
      if (previous !== undefined) current = fresh;
      return current;
    },
  });
  const [calculator] = await renewing.tools({ names: ['builtin:calculator'] });
  expect(refused).toEqual([undefined, old]);
  expect(await calculator?.invoke({ expression: '6 * 7' })).toBe('result: 42');

  const stubborn = createToolcrib({ url: trusting.url, token: () => old });
  await expect(stubborn.tools()).rejects.toMatchObject({ code: 'UNAUTHENTICATED', message: expect.stringContaining('expired') });
  current = old;
  const given = createToolcrib({ url: trusting.url, token: (previous) => (previous === undefined ? current : old) });
  current = fresh;
  const [uuid] = await given.tools({ names: ['builtin:uuid'] });
  current = old;
  expect((await callAsModel(uuid!)).content).toMatch(/expired.* The user has to sign in again\.$/);
});
