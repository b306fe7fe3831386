import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { rawConnection, readRawAnswer, sendRaw } from '../fixtures/raw-connection.ts';
import { startTestServer, type TestServer } from '../running-server.ts';

let server: TestServer;
let alice: ApiClient;

beforeAll(async () => {
  server = await startTestServer();
  alice = await server.as('alice');
});
afterAll(() => server[Symbol.asyncDispose]());

async function isServing(): Promise<boolean> {
  return (await alice.call('builtin:calculator', { expression: '6 * 7' })).json.result.result === 42;
}

function head(...lines: string[]): string {
  return [...lines, '', ''].join('\r\n');
}

const callHead = () => [
  'POST /api/bff/tools/call HTTP/1.1',
  'Host: 127.0.0.1',
  `Authorization: Bearer ${alice.token}`,
  'Content-Type: application/json',
];

describe('bytes that are not HTTP are answered with an error, and the server goes on', () => {
  test.for<[title: string, bytes: string | Buffer]>([
    ['bytes at random', Buffer.from([0, 1, 2, 3, 255, 254, 13, 10, 13, 10])],
    ['the beginning of TLS', Buffer.from('16030100c8010000c40303', 'hex')],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a JSON-RPC message on a line', '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n'],
    ['a header of 100 kB', head('GET /healthz HTTP/1.1', 'Host: 127.0.0.1', `X-Long: ${'a'.repeat(100_000)}`)],
    ['ten thousand headers', head('GET /healthz HTTP/1.1', ...Array.from({ length: 10_000 }, (_, index) => `X-${index}: 1`))],
    ['an address that is no ASCII', Buffer.from('GET /\xff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', 'latin1')],
    ['a length and chunks at once', head('POST / HTTP/1.1', 'Host: 127.0.0.1', 'Content-Length: 4', 'Transfer-Encoding: chunked')],
    ['a length that is no number', head('POST / HTTP/1.1', 'Host: 127.0.0.1', 'Content-Length: some')],
    ['a line break within a header', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: b\rX-C: d\r\n\r\n'],
  ])('for %s', async ([, bytes]) => {
    const { status, body } = readRawAnswer(await sendRaw(server.url, bytes));
    expect(body).toEqual({ code: 'VALIDATION_ERROR', message: expect.any(String) });
    expect(status).toBe(400);
    expect(await isServing()).toBe(true);
  });

  test('for an invalid chunk in the middle of a body', async () => {
    const bytes = `${head(...callHead(), 'Transfer-Encoding: chunked')}ZZ\r\n`;
    expect(readRawAnswer(await sendRaw(server.url, bytes))).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(await isServing()).toBe(true);
  });

  test('for a CONNECT request, whose connection is closed', async () => {
    expect(await sendRaw(server.url, head('CONNECT example.test:80 HTTP/1.1', 'Host: example.test:80'))).toBe('');
    expect(await isServing()).toBe(true);
  });

  test('for a body that never comes because its caller leaves', async () => {
    const socket = await rawConnection(server.url);
    socket.write(`${head(...callHead(), 'Content-Length: 100')}{"name":`);
    socket.destroy();
    expect(await isServing()).toBe(true);
  });
});

describe('a body that is too large is refused', () => {
  const chunk = Buffer.alloc(65_536, ' ');
  const fiftyMegabytes = 50 * 1024 * 1024;

  /** Sends until everything is out or the server has had enough; answers with what came back. */
  async function pour(socket: Socket, opening: string, wrap: (piece: Buffer) => Buffer): Promise<string> {
    let answer = '';
    let sent = 0;
    socket.on('data', (data: Buffer) => (answer += data.toString()));
    // The server hangs up while we still write, which is an error to this side.
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    socket.write(opening);
    while (sent < fiftyMegabytes && !socket.destroyed && !socket.writableEnded) {
      sent += chunk.length;
      if (!socket.write(wrap(chunk))) await Promise.race([once(socket, 'drain').catch(() => closed), closed]);
    }
    socket.end();
    await closed;
    return answer;
  }

  test('when 50 MB are announced', async () => {
    const opening = head(...callHead(), `Content-Length: ${fiftyMegabytes}`);
    const answer = await pour(await rawConnection(server.url), opening, (piece) => piece);
    expect(readRawAnswer(answer)).toMatchObject({ status: 413, body: { code: 'PAYLOAD_TOO_LARGE' } });
    expect(await isServing()).toBe(true);
  });

  test('when 50 MB come in chunks', async () => {
    const opening = head(...callHead(), 'Transfer-Encoding: chunked');
    const wrap = (piece: Buffer) => Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
    const answer = await pour(await rawConnection(server.url), opening, wrap);
    expect(readRawAnswer(answer)).toMatchObject({ status: 413, body: { code: 'PAYLOAD_TOO_LARGE' } });
    expect(await isServing()).toBe(true);
  });

  test('only after the token is checked', async () => {
    const opening = head('POST /api/bff/tools/call HTTP/1.1', 'Host: 127.0.0.1', `Content-Length: ${fiftyMegabytes}`, 'Connection: close');
    const answer = await pour(await rawConnection(server.url), opening, (piece) => piece);
    expect(readRawAnswer(answer)).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } });
    expect(await isServing()).toBe(true);
  });
});

test('callers who send their headers byte by byte hold up nobody', async () => {
  const slow = await Promise.all(Array.from({ length: 200 }, () => rawConnection(server.url)));
  for (const socket of slow) socket.write('GET /api/bff/tools HTTP/1.1\r\nHost: 127');
  expect(new Set(await Promise.all(Array.from({ length: 20 }, isServing)))).toEqual(new Set([true]));
  // They may still finish what they began.
  const [first] = slow;
  first?.write('.0.0.1\r\nConnection: close\r\n\r\n');
  const [answer] = first === undefined ? [] : ((await once(first, 'data')) as [Buffer]);
  expect(answer?.toString()).toMatch(/^HTTP\/1.1 401 /);
  for (const socket of slow) socket.destroy();
  expect(await isServing()).toBe(true);
});

test('a caller who sends many requests at once over one connection gets the answers in order', async () => {
  const request = (path: string, last = false) =>
    head(`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${alice.token}`, ...(last ? ['Connection: close'] : []));
  const answer = await sendRaw(server.url, `${request('/healthz')}${request('/api/groups')}${request('/readyz', true)}`);
  expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])).toEqual(['200', '403', '200']);
});
