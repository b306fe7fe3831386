import { expect, test } from 'vitest';
import type { ToolOutput } from '../../src/model/call.ts';
import { SessionLostError, cannotHaveRun } from '../../src/sources/upstream/session-lost.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { startHandmadeServer, textResult } from '../fixtures/mcp/handmade-server.ts';
import { callOptions, failureOf, openHttp, startEverything, textOf } from '../fixtures/mcp/sessions.ts';

test('[MCP-11] a server that has forgotten the session is recognised by 400 as by 404', async () => {
  await using free = await startHttpServer(() => undefined);
  await free[Symbol.asyncDispose]();
  await using first = await startEverything('streamableHttp', free.port);
  await using opened = await openHttp(`${free.origin}/mcp`);
  await first.server.stop();
  await using _second = await startEverything('streamableHttp', free.port);
  expect(await failureOf(textOf(opened.session, 'echo', { message: 'hello' }))).toMatchObject({
    name: 'SessionLostError',
    mayHaveRun: false,
    upstreamStatus: 400,
  });
});

test('[MCP-11] a 404 is a lost session in which nothing has run, and is reported once', async () => {
  await using server = await startHandmadeServer({ 'tools/call': ({ json }) => json({ error: 'gone' }, 404) });
  await using opened = await openHttp(server.url);
  const losses: unknown[] = [];
  opened.session.onLost((loss) => losses.push(loss));
  const failure = await failureOf(textOf(opened.session, 'echo'));
  expect(failure).toBeInstanceOf(SessionLostError);
  expect(failure).toMatchObject({ code: 'NETWORK_ERROR', upstreamStatus: 404 });
  expect(cannotHaveRun(failure)).toBe(true);
  expect(losses).toEqual([{ cause: 'session-unknown', error: failure }]);
  expect(opened.session.connected).toBe(false);
});

test.each([
  [401, 'UNAUTHENTICATED'],
  [403, 'FORBIDDEN'],
  [500, 'SERVICE_UNAVAILABLE'],
  [429, 'SERVICE_UNAVAILABLE'],
])('[ERR-10] an upstream status %i is %s, and not a lost session', async (status, code) => {
  await using server = await startHandmadeServer({
    'tools/call': ({ response }) => response.writeHead(status, { 'retry-after': '7' }).end(),
  });
  await using opened = await openHttp(server.url);
  expect(await failureOf(textOf(opened.session, 'echo'))).toMatchObject({ code, upstreamStatus: status });
  expect(opened.session.connected).toBe(true);
});

test.each([
  [401, 'UNAUTHENTICATED'],
  [403, 'FORBIDDEN'],
  [503, 'SERVICE_UNAVAILABLE'],
  [429, 'SERVICE_UNAVAILABLE'],
])('[MCP-1] a probe that is answered with %i fails the opening, and nothing is remembered', async (status, code) => {
  await using server = await startHandmadeServer({ 'server/discover': ({ response }) => response.writeHead(status).end('no') });
  expect(await failureOf(openHttp(server.url))).toMatchObject({ code, upstreamStatus: status });
  expect(server.requests.map(({ method }) => method)).toEqual(['server/discover']);
});

test('[ERR-4] a server that never answers the handshake is given up', async () => {
  await using server = await startHandmadeServer({ 'server/discover': () => undefined });
  expect(await failureOf(openHttp(server.url, { startupTimeoutMs: 200 }))).toMatchObject({
    code: 'NETWORK_ERROR',
    message: 'Handshake timed out',
  });
});

test('[EXEC-8] a server that cannot be reached has certainly not run the call', async () => {
  await using server = await startHandmadeServer();
  await using opened = await openHttp(server.url);
  await server[Symbol.asyncDispose]();
  const failure = await failureOf(textOf(opened.session, 'echo'));
  expect(failure).toMatchObject({ code: 'NETWORK_ERROR', message: expect.stringContaining('refused') });
  expect(cannotHaveRun(failure)).toBe(true);
});

test('[ERR-8] a connection that breaks in the middle may have run the call', async () => {
  await using server = await startHandmadeServer({ 'tools/call': ({ response }) => response.destroy() });
  await using opened = await openHttp(server.url);
  const failure = await failureOf(textOf(opened.session, 'echo'));
  expect(failure).toMatchObject({ code: 'NETWORK_ERROR' });
  expect(cannotHaveRun(failure)).toBe(false);
});

test.each<[string, (body: { id?: string | number }) => unknown, string?]>([
  ['no JSON', () => '{"jsonrpc": "2.0", '],
  ['a result that is no object', ({ id }) => ({ jsonrpc: '2.0', id, result: 'text' })],
  ['neither result nor error', ({ id }) => ({ jsonrpc: '2.0', id })],
  ['content that is no list', ({ id }) => ({ jsonrpc: '2.0', id, result: { content: 'text' } })],
  ['blocks without a type', ({ id }) => ({ jsonrpc: '2.0', id, result: { content: [{ text: 'x' }, 3] } })],
  // On a stream something else may come at any time; what is missing is the answer.
  ['an answer to something else', () => ({ jsonrpc: '2.0', id: 'another', result: {} }), 'NETWORK_ERROR'],
])('[ERR-9] %s as an answer fails that call only', async (_what, bodyFor, codeOnStream = 'SERVICE_UNAVAILABLE') => {
  let calls = 0;
  await using server = await startHandmadeServer({
    'tools/call'({ message, json, stream }) {
      if (calls++ === 0) return json(bodyFor(message));
      const events = stream();
      events.send(bodyFor(message));
      return events.end();
    },
  });
  await using opened = await openHttp(server.url);
  const codeOf = async () => {
    const outcome = (await failureOf(opened.session.callTool('echo', {}, callOptions()))) as { code?: string; succeededWith?: ToolOutput };
    return outcome.succeededWith?.is_error === true ? 'SERVICE_UNAVAILABLE' : outcome.code;
  };
  expect(await codeOf()).toBe('SERVICE_UNAVAILABLE');
  expect(await codeOf()).toBe(codeOnStream);
  await opened.session.ping({ signal: new AbortController().signal, timeoutMs: 5000 });
});

test('an answer beyond the limit is refused, with or without a length, and on a stream', async () => {
  let calls = 0;
  const large = textResult('x'.repeat(50_000));
  await using server = await startHandmadeServer({
    'tools/call'({ message, response, stream }) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: large });
      calls++;
      if (calls === 3) return stream().send(body);
      response.writeHead(200, { 'content-type': 'application/json', ...(calls === 1 && { 'content-length': body.length }) });
      response.write(body.slice(0, 100));
      return response.end(body.slice(100));
    },
  });
  await using opened = await openHttp(server.url, {}, { maxMessageBytes: 10_000 });
  for (let round = 0; round < 3; round++) {
    const outcome = JSON.stringify(await failureOf(opened.session.callTool('echo', {}, callOptions())));
    expect(outcome).toContain('larger than the 10000 bytes');
  }
});
