import { expect, test } from 'vitest';
import { SessionLostError } from '../../src/sources/upstream/session-lost.ts';
import type { SessionLoss } from '../../src/sources/mcp/session/session-loss.ts';
import { callOptions, everything, failureOf, listNames, openProgram, openStdio, textOf } from '../fixtures/mcp/sessions.ts';

test('[MCP-7] tools are listed to the last page, with annotations', async () => {
  await using opened = await openStdio('pages 7 3');
  const tools = await opened.session.listTools({ signal: new AbortController().signal, resources: false });
  expect(tools.map(({ definition }) => definition.name)).toEqual(expect.arrayContaining(['echo', 'tool_1', 'tool_7']));
  expect(tools.find(({ definition }) => definition.name === 'echo')).toEqual({
    definition: {
      name: 'echo',
      description: 'The tool echo of the fixture server.',
      input_schema: { type: 'object', properties: { text: {} } },
      annotations: { readOnlyHint: true },
    },
    tags: [],
    version: '1.0.0',
    execution_mode: 'mcp_call',
  });
});

test('[MCP-3] answers find their calls in any order', async () => {
  await using opened = await openStdio('plain');
  const { session } = opened;
  const keys = Array.from({ length: 50 }, (_, index) => `key-${index}`);
  const held = keys.map((key) => textOf(session, 'hold', { key }));
  await textOf(session, 'release', { keys: keys.toReversed() });
  expect(await Promise.all(held)).toEqual(keys);
});

test('a result keeps its structure, and a failing tool is a result', async () => {
  await using opened = await openStdio('plain');
  const { session } = opened;
  expect(await session.callTool('add', { a: 2, b: 40 }, callOptions())).toEqual({
    content: [{ type: 'text', text: '42' }],
    structured_content: { sum: 42 },
  });
  expect(await session.callTool('fail', { text: 'no luck' }, callOptions())).toEqual({
    content: [{ type: 'text', text: 'no luck' }],
    is_error: true,
  });
});

test('[ERR-7] an error answer fails its call and nothing else', async () => {
  await using opened = await openStdio('plain');
  const { session } = opened;
  expect(await session.callTool('nonsense', {}, callOptions())).toEqual({
    content: [{ type: 'text', text: 'Unknown tool nonsense' }],
    is_error: true,
    failure: { code: 'VALIDATION_ERROR' },
    metadata: { rpc_error: { code: -32602 } },
  });
  expect(session.connected).toBe(true);
});

test.each(['result', 'both'])('[ERR-9] an answer with a wrong %s fails its call at once', async (how) => {
  await using opened = await openStdio('plain');
  const failure = await failureOf(opened.session.callTool('invalid', { how }, callOptions()));
  expect(failure).toMatchObject({
    name: 'ProtocolError',
    code: 'SERVICE_UNAVAILABLE',
    message: expect.stringContaining('invalid MCP message'),
  });
  expect(await textOf(opened.session, 'echo', { text: 'still here' })).toBe('still here');
});

test('[MCP-9] progress comes in order, including the last one', async () => {
  await using opened = await openStdio('plain');
  for (let round = 0; round < 5; round++) {
    const seen: unknown[] = [];
    const text = await textOf(opened.session, 'progress', { steps: 4 }, { onProgress: (update) => seen.push(update) });
    expect(text).toBe('done');
    expect(seen).toEqual([1, 2, 3, 4].map((progress) => ({ progress, total: 4, message: `step ${progress}` })));
  }
});

test('[MCP-9] cancelling a call cancels it at the server', async () => {
  await using opened = await openStdio('plain');
  const cancel = new AbortController();
  const call = failureOf(opened.session.callTool('hold', { key: 'k' }, callOptions({ signal: cancel.signal })));
  await textOf(opened.session, 'echo', { text: 'the call has arrived' });
  cancel.abort();
  expect(await call).toMatchObject({ code: 'NETWORK_ERROR', message: 'The call was cancelled' });
  expect(JSON.parse(await textOf(opened.session, 'cancelled'))).toHaveLength(1);
});

test('[ERR-6] a call that takes too long is given up, and cancelled at the server', async () => {
  await using opened = await openStdio('plain');
  const failure = await failureOf(opened.session.callTool('hold', { key: 'k' }, callOptions({ timeoutMs: 50 })));
  expect(failure).toMatchObject({ code: 'NETWORK_ERROR', message: 'The server did not answer within 50 ms' });
  expect(JSON.parse(await textOf(opened.session, 'cancelled'))).toHaveLength(1);
});

test('[MCP-9] progress extends the timeout of a call, up to the maximum', async () => {
  await using opened = await openProgram([everything, 'stdio']);
  const { session } = opened;
  const long = (options: object) =>
    failureOf(session.callTool('trigger-long-running-operation', { duration: 1.5, steps: 15 }, callOptions(options)));
  expect(await long({ timeoutMs: 1000, maxTotalMs: 30_000 })).toHaveProperty('succeededWith');
  expect(await long({ timeoutMs: 1000, maxTotalMs: 1100 })).toMatchObject({ message: 'The server did not answer within 1100 ms' });
});

test('[MCP-13] a question reaches the caller, and its answer the server', async () => {
  await using opened = await openStdio('plain');
  const asked: unknown[] = [];
  const onElicit = async (request: object) => {
    asked.push(request);
    return { action: 'accept', content: { sure: true } };
  };
  const answer = await textOf(opened.session, 'elicit', { message: 'Really?' }, { onElicit });
  expect(JSON.parse(answer)).toEqual({ action: 'accept', content: { sure: true } });
  expect(asked).toMatchObject([{ message: 'Really?' }]);
});

test('[MCP-13] a question is declined if there is nobody to ask', async () => {
  await using opened = await openStdio('plain');
  expect(JSON.parse(await textOf(opened.session, 'elicit'))).toEqual({ action: 'decline' });
});

test('[MCP-13] a question is put to nobody if two calls share the stream', async () => {
  await using opened = await openStdio('plain');
  const { session } = opened;
  const onElicit = async () => ({ action: 'accept', content: {} });
  const other = textOf(session, 'hold', { key: 'k' }, { onElicit });
  expect(JSON.parse(await textOf(session, 'elicit', {}, { onElicit }))).toEqual({ action: 'decline' });
  await textOf(session, 'release', { keys: ['k'] });
  expect(await other).toBe('k');
});

test('[MCP-13] a question that comes after its call was given up is not put to the next caller', async () => {
  await using opened = await openStdio('plain');
  await failureOf(textOf(opened.session, 'hold', { key: 'k' }, { timeoutMs: 20 }));
  const onElicit = async () => ({ action: 'accept', content: {} });
  expect(JSON.parse(await textOf(opened.session, 'elicit', {}, { onElicit }))).toEqual({ action: 'decline' });
});

test('log messages reach the only call under way', async () => {
  await using opened = await openStdio('plain');
  const seen: unknown[] = [];
  await textOf(opened.session, 'log', { text: 'hello' }, { onLog: (level, data) => seen.push({ level, data }) });
  expect(seen).toEqual([{ level: 'info', data: 'hello' }]);
});

test('[MCP-7] a changed list is reported', async () => {
  await using opened = await openStdio('plain');
  const { session } = opened;
  const changed = new Promise<void>((resolve) => session.onToolsChanged(resolve));
  await textOf(session, 'grow', { name: 'later' });
  await changed;
  expect(await listNames(session)).toContain('later');
});

test('[ERR-5] a crash fails every call under way, with the last output of the server', async () => {
  await using opened = await openStdio('plain');
  const { session } = opened;
  const lost = new Promise<SessionLoss>((resolve) => session.onLost(resolve));
  const held = failureOf(textOf(session, 'hold', { key: 'k' }));
  const crashed = await failureOf(textOf(session, 'crash', { words: 'out of cheese' }));
  for (const failure of [crashed, await held, (await lost).error]) {
    expect(failure).toBeInstanceOf(SessionLostError);
    expect(failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE', mayHaveRun: true, message: expect.stringContaining('out of cheese') });
  }
  expect(await lost).toMatchObject({
    cause: 'process-ended',
    exit: { signal: null },
    lastWords: expect.arrayContaining(['out of cheese']),
  });
  expect(session.connected).toBe(false);
  expect(await failureOf(textOf(session, 'echo'))).toMatchObject({ name: 'SessionLostError', mayHaveRun: false });
});

test('[ERR-5] a killed process is a lost session', async () => {
  await using opened = await openStdio('plain');
  const lost = new Promise((resolve) => opened.session.onLost(resolve));
  process.kill(opened.fixture.server.pid, 'SIGKILL');
  expect(await lost).toMatchObject({
    cause: 'process-ended',
    exit: { signal: 'SIGKILL' },
    error: { message: expect.stringContaining('SIGKILL') },
  });
});

test('an answer beyond the limit ends the session, and the gateway goes on', async () => {
  await using opened = await openStdio('plain', {}, { maxMessageBytes: 100_000 });
  const failure = await failureOf(textOf(opened.session, 'huge', { bytes: 200_000 }));
  expect(failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

test('[MCP-10] a ping is answered, counts as a sign of life, and can time out', async () => {
  await using opened = await openStdio('plain');
  const { session, fixture } = opened;
  const before = session.lastMessageAt;
  await session.ping({ signal: new AbortController().signal, timeoutMs: 10_000 });
  expect(session.lastMessageAt).toBeGreaterThan(before);
  process.kill(fixture.server.pid, 'SIGSTOP');
  const failure = await failureOf(session.ping({ signal: new AbortController().signal, timeoutMs: 30 }));
  process.kill(fixture.server.pid, 'SIGCONT');
  expect(failure).toMatchObject({ code: 'NETWORK_ERROR' });
});

test('closing ends the process, fails the calls under way and is not reported as a loss', async () => {
  await using opened = await openStdio('plain');
  const { session, fixture } = opened;
  let losses = 0;
  session.onLost(() => losses++);
  const held = failureOf(textOf(session, 'hold', { key: 'k' }));
  await session.close();
  expect(await held).toMatchObject({ code: 'NETWORK_ERROR', message: 'The session has been closed' });
  expect(await fixture.server.exited).toEqual({ code: 0, signal: null });
  expect(losses).toBe(0);
});

test('the reference server works over stdio', async () => {
  await using opened = await openProgram([everything, 'stdio']);
  const { session } = opened;
  expect(session.info.protocol_version).toBe('2025-11-25');
  expect(await textOf(session, 'get-sum', { a: 2, b: 40 })).toBe('The sum of 2 and 40 is 42.');
  const structured = await session.callTool('get-structured-content', { location: 'New York' }, callOptions());
  expect(structured.structured_content).toMatchObject({ temperature: expect.any(Number) });
});
