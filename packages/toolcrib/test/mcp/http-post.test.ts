import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { EndSwitch } from '../../src/model/end-signal.ts';
import type { McpPostOptions } from '../../src/sources/mcp/session/mcp-transport.ts';
import { createStreamableHttpTransport, type StreamableHttpOptions } from '../../src/sources/mcp/transports/streamable-http.ts';
import { loopbackEgress } from '../fixtures/loopback-egress.ts';
import { startHandmadeServer, textResult, type Asked } from '../fixtures/mcp/handmade-server.ts';

/** A transport whose requests are posted one by one. */
function open(url: string, options: Partial<StreamableHttpOptions> = {}) {
  const transport = createStreamableHttpTransport({ egress: loopbackEgress, url, ...options });
  let nextId = 1;

  /** What a request led to when it led to something; `outcome` also has what came later. */
  async function post(more: McpPostOptions = {}) {
    const id = nextId++;
    const outcome = { taken: [] as JSONRPCMessage[], failures: [] as unknown[], streamEnds: 0 };
    const something = Promise.withResolvers<void>();
    const note = (count: () => unknown) => {
      count();
      something.resolve();
    };
    transport.tap = { take: (message) => (note(() => outcome.taken.push(message)), true) };
    const message = { jsonrpc: '2.0' as const, id, method: 'tools/call', params: { name: 'echo' } };
    const options = { ...more, onRequestStreamEnd: () => note(() => outcome.streamEnds++) };
    transport.post?.(message, options, (error) => note(() => outcome.failures.push(error)));
    await something.promise;
    return { id, ...outcome, outcome };
  }
  return { transport, post, [Symbol.asyncDispose]: () => transport.close() };
}

/** A server that reads requests of one piece each, and answers with bytes as they are. */
async function startRawServer(answer: (socket: Socket, request: { id: number }) => unknown) {
  const executed: number[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay(true));
    socket.on('error', () => undefined);
    let heard = '';
    socket.on('data', (chunk) => {
      heard += String(chunk);
      const body = /\r\n\r\n(\{.*\})$/s.exec(heard)?.[1];
      if (body === undefined) return;
      heard = '';
      const request = JSON.parse(body) as { id: number };
      executed.push(request.id);
      void answer(socket, request);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    executed,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const text = 'Grüße für 5 € 😀';
const answerTo = (id: number) => ({ jsonrpc: '2.0', id, result: textResult(text) });
const sized = (type: string, body: string) =>
  `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
function chunked(type: string, body: string): string {
  const bytes = Buffer.byteLength(body).toString(16);
  return `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n${bytes}\r\n${body}\r\n0\r\n\r\n`;
}

const formats: [what: string, answer: (json: string) => string][] = [
  ['JSON with a length', (json) => sized('application/json; charset=utf-8', json)],
  ['JSON in chunks', (json) => chunked('Application/JSON', json)],
  ['JSON after a byte order mark', (json) => sized('application/json', `\ufeff${json}`)],
  ['an event stream', (json) => chunked('text/event-stream', `event: message\ndata: ${json}\n\n`)],
  ['an event stream with a length', (json) => sized('text/event-stream', `: hello\n\ndata: ${json}\n\n`)],
  ['an event stream after a byte order mark', (json) => chunked('text/event-stream', `\ufeffdata: ${json}\n\n`)],
  ['an event stream of CRLF lines', (json) => chunked('text/event-stream', `id: 1\r\ndata: ${json}\r\n\r\n`)],
  ['an event stream of CR lines', (json) => chunked('text/event-stream', `id: 1\rdata: ${json}\r\r`)],
];

test.each(formats.flatMap(([what, answer]) => [10_000, 7, 1].map((size) => ({ what, answer, size }))))(
  '[MCP-2] $what is read in pieces of $size bytes',
  async ({ answer, size }) => {
    await using server = await startRawServer(async (socket, { id }) => {
      const bytes = Buffer.from(answer(JSON.stringify(answerTo(id))));
      for (let at = 0; at < bytes.length; at += size) {
        socket.write(bytes.subarray(at, at + size));
        await nextTurn();
      }
    });
    await using client = open(server.url);
    for (let call = 0; call < 2; call++) {
      const { id, taken, failures, streamEnds } = await client.post();
      expect({ taken, failures, streamEnds }).toEqual({ taken: [answerTo(id)], failures: [], streamEnds: 0 });
    }
  },
);

test.each([301, 401, 403, 404, 429, 500, 503])('a refusal with status %d fails the request once, as `send` does', async (status) => {
  await using server = await startHandmadeServer({ 'tools/call': ({ response }) => response.writeHead(status).end('no') });
  await using client = open(server.url);
  const { taken, failures, streamEnds, outcome } = await client.post();
  expect({ taken, failures: failures.length, streamEnds }).toEqual({ taken: [], failures: 1, streamEnds: 0 });
  const message: JSONRPCMessage = { jsonrpc: '2.0', id: 99, method: 'tools/call' };
  await expect(client.transport.send(message)).rejects.toThrow((failures[0] as Error).message);
  expect(outcome.failures).toHaveLength(1);
});

test('a refusal with an error for the request is its answer', async () => {
  const error = { code: -32_602, message: 'no such tool' };
  const refuse = ({ message, json }: Asked) => json({ jsonrpc: '2.0', id: message.id, error }, 400);
  await using server = await startHandmadeServer({ 'tools/call': refuse });
  await using client = open(server.url);
  const { id, taken, failures } = await client.post();
  expect({ taken, failures }).toEqual({ taken: [{ jsonrpc: '2.0', id, error }], failures: [] });
});

test.each<[what: string, handle: (asked: Asked) => unknown, message: RegExp]>([
  ['nothing', ({ response }) => response.writeHead(200).end(), /answered with nothing/],
  ['a page', ({ response }) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'), /answered with text\/html/],
  ['compressed bytes', ({ json }) => json('zipped', 200, { 'content-encoding': 'gzip' }), /content encoding/],
  ['no JSON', ({ json }) => json('{"jsonrpc": '), /not JSON/],
  ['the answer to something else', ({ json }) => json({ jsonrpc: '2.0', id: 77, result: {} }), /without an answer/],
  ['a length beyond the limit', ({ json }) => json('x', 200, { 'content-length': '5000' }), /larger than the 1000 bytes/],
  ['more than the limit', ({ json }) => json('x'.repeat(5000)), /larger than the 1000 bytes/],
  ['half of what it promised', ({ json, response }) => (json('{"a', 200, { 'content-length': '50' }), response.destroy()), /./],
])('%s in place of an answer fails the request once', async (_what, handle, message) => {
  await using server = await startHandmadeServer({ 'tools/call': handle });
  await using client = open(server.url, { maxMessageBytes: 1000 });
  const { failures, streamEnds, outcome } = await client.post();
  expect({ failures: failures.length, streamEnds }).toEqual({ failures: 1, streamEnds: 0 });
  expect((failures[0] as Error).message).toMatch(message);
  await client.transport.close();
  expect(outcome.failures).toHaveLength(1);
});

test('[ERR-9] a message on a stream that is too large stands for the answer, and ends the stream', async () => {
  const closed = Promise.withResolvers<void>();
  await using server = await startHandmadeServer({
    'tools/call'({ response, stream }) {
      response.on('close', closed.resolve);
      stream().send('x'.repeat(5000));
    },
  });
  await using client = open(server.url, { maxMessageBytes: 1000 });
  const { id, taken, failures } = await client.post();
  expect(taken).toMatchObject([{ id, error: { message: expect.stringContaining('larger than the 1000 bytes') } }]);
  expect(failures).toEqual([]);
  await closed.promise;
});

test('a stream that ends without the answer is told as such, once', async () => {
  await using server = await startHandmadeServer({ 'tools/call': ({ stream }) => stream().end() });
  await using client = open(server.url);
  const { taken, failures, streamEnds } = await client.post();
  expect({ taken, failures, streamEnds }).toEqual({ taken: [], failures: [], streamEnds: 1 });
});

test('[MCP-9] cancelling closes a request that has no answer yet, and fails it once with the reason', async () => {
  const arrived = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  await using server = await startHandmadeServer({
    'tools/call'({ response }) {
      response.on('close', closed.resolve);
      arrived.resolve();
    },
  });
  await using client = open(server.url);
  const requestSignal = new EndSwitch();
  const posted = client.post({ requestSignal });
  await arrived.promise;
  requestSignal.end(new Error('enough'));
  await closed.promise;
  const { failures, taken, streamEnds } = await posted;
  expect(failures).toEqual([expect.objectContaining({ message: 'enough' })]);
  expect({ taken, streamEnds }).toEqual({ taken: [], streamEnds: 0 });
});

test('[MCP-9] cancelling closes a stream in the middle, and nobody is told of its end', async () => {
  const closed = Promise.withResolvers<void>();
  const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } };
  await using server = await startHandmadeServer({
    'tools/call'({ response, stream }) {
      response.on('close', closed.resolve);
      stream().send(progress);
    },
  });
  await using client = open(server.url);
  const requestSignal = new EndSwitch();
  const { taken, outcome } = await client.post({ requestSignal });
  expect(taken).toEqual([progress]);
  requestSignal.end(new Error('enough'));
  await closed.promise;
  await client.transport.close();
  expect(outcome).toMatchObject({ failures: [], streamEnds: 0 });
});

test('[EXEC-8] a connection that the server closes between calls is replaced, and no call runs twice', async () => {
  await using server = await startRawServer((socket, { id }) => socket.end(sized('application/json', JSON.stringify(answerTo(id)))));
  await using client = open(server.url);
  for (let call = 1; call <= 20; call++) {
    const { taken, failures } = await client.post();
    expect({ taken: taken.length, failures }).toEqual({ taken: 1, failures: [] });
    for (const socket of server.sockets) if (!socket.closed) await once(socket, 'close');
    // The end of the connection has to arrive here too.
    await nextTurn();
  }
  expect(server.executed).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
});

test('[ERR-8] a call whose connection breaks after it was sent fails, and is not sent again', async () => {
  await using server = await startRawServer((socket, { id }) =>
    id % 2 === 1 ? socket.write(sized('application/json', JSON.stringify(answerTo(id)))) : socket.destroy(),
  );
  await using client = open(server.url);
  for (let call = 1; call <= 10; call++) {
    const { id, taken, failures } = await client.post();
    expect([id, taken.length, failures.length]).toEqual(call % 2 === 1 ? [call, 1, 0] : [call, 0, 1]);
  }
  expect(server.executed).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('[MCP-12] a credential that need not be waited for is asked for at once, and a new one is sent at once', async () => {
  await using server = await startHandmadeServer({ 'tools/call': ({ result }) => result(textResult('')) });
  const tokens = [{ Authorization: 'a' }, { Authorization: 'b' }];
  let current = tokens[0];
  let asked = 0;
  await using client = open(server.url, { headers: () => (asked++, current ?? {}) });
  client.transport.setProtocolVersion?.('2025-11-25');
  const sent = async () => {
    const before = asked;
    const posted = client.post();
    expect(asked).toBe(before + 1);
    await posted;
    return server.requests.at(-1)?.headers;
  };
  expect(await sent()).toMatchObject({ authorization: 'a', 'mcp-protocol-version': '2025-11-25' });
  current = tokens[1];
  expect(await sent()).toMatchObject({ authorization: 'b' });
  client.transport.sessionId = 'new';
  expect(await sent()).toMatchObject({ authorization: 'b', 'mcp-session-id': 'new' });
  current = tokens[0];
  expect(await sent()).toMatchObject({ authorization: 'a', 'mcp-session-id': 'new' });
});

test('the JSON of a message is sent as it was given', async () => {
  await using server = await startHandmadeServer({ 'tools/call': ({ result }) => result(textResult('')) });
  await using client = open(server.url);
  const { failures } = await client.post({ json: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"given"}}' });
  expect(failures).toEqual([]);
  expect(server.requests.at(-1)?.body).toMatchObject({ params: { name: 'given' } });
});
