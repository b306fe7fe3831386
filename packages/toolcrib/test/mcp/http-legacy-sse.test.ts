import { expect, test } from 'vitest';
import { startHttpServer } from '../fixtures/http-server.ts';
import { failureOf, openSse, startEverything, textOf } from '../fixtures/mcp/sessions.ts';

test('[MCP-2] the reference server works over HTTP with SSE, and its end is a lost session', async () => {
  await using free = await startHttpServer(() => undefined);
  await free[Symbol.asyncDispose]();
  await using everything = await startEverything('sse', free.port);
  await using opened = await openSse(`${free.origin}/sse`);
  const { session, era } = opened;
  expect(era).toEqual({ kind: 'legacy' });
  expect(await textOf(session, 'get-sum', { a: 2, b: 40 })).toBe('The sum of 2 and 40 is 42.');
  const seen: number[] = [];
  const onProgress = ({ progress }: { progress: number }) => seen.push(progress);
  await textOf(session, 'trigger-long-running-operation', { duration: 0.2, steps: 4 }, { onProgress });
  expect(seen).toEqual([1, 2, 3, 4]);
  const onElicit = async () => ({ action: 'accept', content: { name: 'Ada', check: true } });
  expect(await textOf(session, 'trigger-elicitation-request', {}, { onElicit })).toContain('Ada');
  const lost = new Promise((resolve) => session.onLost(resolve));
  const running = failureOf(textOf(session, 'trigger-long-running-operation', { duration: 60, steps: 1 }));
  await everything.server.stop();
  expect(await lost).toMatchObject({ cause: 'connection-ended', error: { name: 'SessionLostError', code: 'NETWORK_ERROR' } });
  expect(await running).toMatchObject({ mayHaveRun: true });
});

test.each([401, 403, 500])('[ERR-10] a status %i when the stream is opened is reported', async (status) => {
  await using server = await startHttpServer((_request, response) => void response.writeHead(status).end());
  expect(await failureOf(openSse(`${server.origin}/sse`))).toMatchObject({ upstreamStatus: status });
});

test.each([
  ['another host', 'event: endpoint\ndata: https://example.org/message\n\n', 'another host'],
  ['no address at all', '', 'ended the session'],
])('a server that names %s is refused', async (_what, events, words) => {
  await using server = await startHttpServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events);
  });
  expect(await failureOf(openSse(`${server.origin}/sse`))).toMatchObject({ message: expect.stringContaining(words) });
});

test('[ERR-4] a stream on which nothing comes is given up', async () => {
  await using server = await startHttpServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  });
  const failure = await failureOf(openSse(`${server.origin}/sse`, { startupTimeoutMs: 200 }));
  expect(failure).toMatchObject({ message: 'Handshake timed out' });
});
