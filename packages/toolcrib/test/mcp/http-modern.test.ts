import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { callOptions, failureOf, listNames, openHttp, openProgram, textOf } from '../fixtures/mcp/sessions.ts';
import { startModernServer } from '../fixtures/mcp/modern-server.ts';
import { startHandmadeServer, textResult, type Asked } from '../fixtures/mcp/handmade-server.ts';

const program = join(import.meta.dirname, '../fixtures/mcp/modern-server.ts');

/** The same server over both of its transports. */
describe.each(['http', 'stdio'] as const)('[MCP-1] a server of the stateless revision over %s', (carrier) => {
  async function open() {
    if (carrier === 'stdio') return openProgram([program]);
    const server = await startModernServer();
    const opened = await openHttp(server.url);
    return {
      ...opened,
      async [Symbol.asyncDispose]() {
        await opened.session.close();
        await server[Symbol.asyncDispose]();
      },
    };
  }

  test('is recognised by probing, lists and answers', async () => {
    await using opened = await open();
    const { session, era } = opened;
    expect(era).toMatchObject({ kind: 'modern', discover: { supportedVersions: ['2026-07-28'] } });
    expect(session.info).toMatchObject({ name: 'modern', version: '3.0.0', protocol_version: '2026-07-28' });
    expect(await listNames(session)).toEqual(['echo', 'slow', 'ask', 'insist', 'later', 'route']);
    expect(await textOf(session, 'echo', { text: 'hello' })).toBe('hello');
    const texts = await Promise.all(Array.from({ length: 20 }, (_, index) => textOf(session, 'echo', { text: String(index) })));
    expect(texts).toEqual(Array.from({ length: 20 }, (_, index) => String(index)));
  });

  test('[MCP-9] reports progress to the last', async () => {
    await using opened = await open();
    const seen: number[] = [];
    await textOf(opened.session, 'slow', { forever: false }, { onProgress: ({ progress }) => seen.push(progress) });
    expect(seen).toEqual([1, 2, 3]);
  });

  test('[MCP-13] asks within its answer, and is answered or declined', async () => {
    await using opened = await open();
    const asked: unknown[] = [];
    const onElicit = async (request: object) => {
      asked.push(request);
      return { action: 'accept', content: { city: 'Bern' } };
    };
    expect(await textOf(opened.session, 'ask', {}, { onElicit })).toBe('Bern after round 1');
    expect(asked).toMatchObject([{ message: 'Which city?' }]);
    expect(await textOf(opened.session, 'ask')).toBe('declined');
    expect(await textOf(opened.session, 'later')).toBe('now');
  });

  test('[MCP-13] does not keep a call that was cancelled during a question', async () => {
    await using opened = await open();
    const cancel = new AbortController();
    const onElicit = () => new Promise<never>(() => cancel.abort());
    const failure = await failureOf(textOf(opened.session, 'ask', {}, { onElicit, signal: cancel.signal }));
    expect(failure).toMatchObject({ message: 'The call was cancelled' });
  });

  test('cannot ask forever', async () => {
    await using opened = await open();
    expect(await failureOf(textOf(opened.session, 'insist'))).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: false });
  });

  test('[MCP-10] is pinged with the discovery', async () => {
    await using opened = await open();
    const before = opened.session.lastMessageAt;
    await opened.session.ping({ signal: new AbortController().signal, timeoutMs: 10_000 });
    expect(opened.session.lastMessageAt).toBeGreaterThan(before);
  });

  test('[ERR-7] refuses an unknown tool with an error result', async () => {
    await using opened = await open();
    expect(await opened.session.callTool('nonsense', {}, callOptions())).toMatchObject({ is_error: true });
  });
});

test('[MCP-9] cancelling a call over HTTP reaches the server by the closed stream', async () => {
  await using server = await startModernServer();
  await using opened = await openHttp(server.url);
  const cancel = new AbortController();
  const options = { signal: cancel.signal, onProgress: ({ progress }: { progress: number }) => void (progress === 3 && cancel.abort()) };
  const failure = await failureOf(textOf(opened.session, 'slow', { forever: true }, options));
  expect(failure).toMatchObject({ message: 'The call was cancelled' });
  await server.cancelled;
  expect(server.requests.map(({ method }) => method)).not.toContain('notifications/cancelled');
});

test('[MCP-7] a changed list is reported on the stream that was requested', async () => {
  await using server = await startModernServer();
  await using opened = await openHttp(server.url);
  const changed = Promise.withResolvers<string>();
  opened.session.onToolsChanged(() => changed.resolve('changed'));
  // The subscription is there when the server has acknowledged it, which nobody is told of; so it is told until it hears.
  const telling = setInterval(() => server.toolsChanged(), 20);
  expect(await changed.promise).toBe('changed');
  clearInterval(telling);
});

test('requests repeat their content in headers, and a parameter that asks for it', async () => {
  await using server = await startModernServer();
  await using opened = await openHttp(server.url);
  // Not listed yet, so the server refuses the first attempt; with the list it works at once.
  expect(await textOf(opened.session, 'route', { region: 'Zürich' })).toBe('to Zürich');
  expect(await textOf(opened.session, 'route', { region: 'west' })).toBe('to west');
  const calls = server.requests.filter(({ method }) => method === 'tools/call');
  expect(calls.map(({ headers }) => headers['mcp-param-region'])).toEqual([
    undefined,
    `=?base64?${Buffer.from('Zürich').toString('base64')}?=`,
    'west',
  ]);
  expect(calls[0]?.headers).toMatchObject({ 'mcp-name': 'route', 'mcp-protocol-version': '2026-07-28' });
  expect(calls[0]?.headers).not.toHaveProperty('mcp-session-id');
});

test('[MCP-1] a known revision is used without probing', async () => {
  await using server = await startModernServer();
  await using first = await openHttp(server.url);
  const asked = server.requests.length;
  await using second = await openHttp(server.url, { priorEra: first.era });
  expect(server.requests).toHaveLength(asked);
  expect(await textOf(second.session, 'echo', { text: 'hello' })).toBe('hello');
});

describe('a server that breaks the stateless revision', () => {
  const discover = {
    'server/discover': ({ result }: Asked) =>
      result({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'private' }),
  };

  test.each([
    ['a kind nobody knows', { resultType: 'task' }, 'an unknown kind of result'],
    ['a question without a question', { resultType: 'input_required' }, 'without asking a question'],
    [
      'a question for what we do not offer',
      { resultType: 'input_required', inputRequests: { a: { method: 'sampling/createMessage' } } },
      'do not offer',
    ],
    ['a question that is none', { resultType: 'input_required', inputRequests: { a: 3 } }, 'do not offer'],
  ])('[ERR-9] fails the call with %s', async (_what, extra, words) => {
    await using server = await startHandmadeServer({ ...discover, 'tools/call': ({ result }) => result({ ...textResult('x'), ...extra }) });
    await using opened = await openHttp(server.url);
    expect(await failureOf(textOf(opened.session, 'echo'))).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining(words),
    });
  });

  test('[MCP-1] may leave out that its answer is complete, which is then assumed', async () => {
    await using server = await startHandmadeServer({ ...discover, 'tools/call': ({ result }) => result(textResult('x')) });
    await using opened = await openHttp(server.url);
    expect(await textOf(opened.session, 'echo')).toBe('x');
  });

  test('[MCP-11] loses its session when it has changed its revision', async () => {
    const error = { code: -32_022, message: 'Unsupported', data: { supported: ['2027-01-01'] } };
    await using server = await startHandmadeServer({
      ...discover,
      'tools/call': ({ message, json }) => json({ jsonrpc: '2.0', id: message.id, error }, 400),
    });
    await using opened = await openHttp(server.url);
    expect(await failureOf(textOf(opened.session, 'echo'))).toMatchObject({ name: 'SessionLostError', mayHaveRun: false });
  });

  test('lists no tools whose headers cannot be made', async () => {
    const tool = (name: string, property: object) => ({ name, inputSchema: { type: 'object', properties: { p: property } } });
    const tools = [
      tool('good', { type: 'string', 'x-mcp-header': 'P' }),
      tool('number', { type: 'number', 'x-mcp-header': 'P' }),
      tool('space', { type: 'string', 'x-mcp-header': 'a b' }),
      tool('deep', { type: 'array', items: { type: 'string', 'x-mcp-header': 'P' } }),
    ];
    await using server = await startHandmadeServer({
      ...discover,
      'tools/list': ({ result }) => result({ resultType: 'complete', tools, ttlMs: 0, cacheScope: 'private' }),
    });
    const skipped: string[] = [];
    await using opened = await openHttp(server.url, { onSkipped: (left) => skipped.push(...left.map(({ name }) => name)) });
    expect(await listNames(opened.session)).toEqual(['good']);
    expect(skipped).toEqual(['number', 'space', 'deep']);
  });
});
