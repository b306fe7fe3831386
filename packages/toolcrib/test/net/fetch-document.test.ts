import type { RequestListener } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { fetchDocument } from '../fixtures/loopback-egress.ts';
import { createEgress } from '../../src/net/egress.ts';
import { isLoopbackHost } from '../../src/net/is-loopback-host.ts';
import { endlessAnswer, startHttpServer } from '../fixtures/http-server.ts';

const limits = { maxBytes: 1_048_576, timeoutMs: 20_000 };

describe('a fetched document', () => {
  test('comes with its status, content type and text', async () => {
    await using server = await startHttpServer((request, response) => {
      response
        .writeHead(404, { 'content-type': 'application/json' })
        .end(JSON.stringify({ path: request.url, accept: request.headers.accept }));
    });
    const document = await fetchDocument(`${server.origin}/a?b=c`, { ...limits, accept: 'application/json' });
    expect(document).toMatchObject({ status: 404, contentType: 'application/json' });
    expect(JSON.parse(document.body)).toEqual({ path: '/a?b=c', accept: 'application/json' });
  });

  test.each([
    ['gzip', gzipSync('grüße')],
    ['br', brotliCompressSync('grüße')],
    ['identity', Buffer.from('grüße')],
    ['identity', Buffer.from('\ufeffgrüße')],
  ])('in %s is decoded', async (encoding, bytes) => {
    await using server = await startHttpServer((_request, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(bytes),
    );
    expect((await fetchDocument(server.origin, limits)).body).toBe('grüße');
  });

  test('may have exactly the allowed size', async () => {
    await using server = await startHttpServer((_request, response) => response.end('x'.repeat(1000)));
    expect((await fetchDocument(server.origin, { ...limits, maxBytes: 1000 })).body).toHaveLength(1000);
    await expect(fetchDocument(server.origin, { ...limits, maxBytes: 999 })).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });
});

describe('a document that is too large', () => {
  test('is cut off at the limit if it is endless', async () => {
    const { handle, sentBytes } = endlessAnswer();
    await using server = await startHttpServer(handle);
    await expect(fetchDocument(server.origin, limits)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    // Only the socket buffers of both ends hold more than the limit.
    expect(await sentBytes).toBeLessThan(32 * 1_048_576);
  });

  test('is refused before it is read if it announces its size', async () => {
    let written = false;
    await using server = await startHttpServer((_request, response) => {
      response.writeHead(200, { 'content-length': 200_000_000 }).flushHeaders();
      response.once('close', () => (written = response.writableEnded));
    });
    await expect(fetchDocument(server.origin, limits)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(written).toBe(false);
  });

  test('is counted as it unfolds if it is compressed', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1_048_576));
    expect(bomb.length).toBeLessThan(limits.maxBytes);
    await using server = await startHttpServer((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    await expect(fetchDocument(server.origin, limits)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });
});

describe('a fetch that fails', () => {
  const failing: [string, RequestListener, { code: string; message: RegExp }][] = [
    [
      'a redirect',
      (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
      { code: 'NETWORK_ERROR', message: /redirect/ },
    ],
    [
      'an encoding that was not asked for',
      (_request, response) => response.writeHead(200, { 'content-encoding': 'zip' }).end('x'),
      { code: 'NETWORK_ERROR', message: /zip/ },
    ],
    [
      'a body that is not in its encoding',
      (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('plain'),
      { code: 'NETWORK_ERROR', message: /no usable answer/ },
    ],
    ['a cut connection', (request) => request.socket.destroy(), { code: 'SERVICE_UNAVAILABLE', message: /cut/ }],
    [
      'half a body',
      (request, response) => response.writeHead(200, { 'content-length': 10 }).write('half', () => request.socket.destroy()),
      { code: 'NETWORK_ERROR', message: /no usable answer/ },
    ],
    ['bytes that are not HTTP', (request) => request.socket.end('garbage\r\n\r\n'), { code: 'NETWORK_ERROR', message: /no usable answer/ }],
  ];
  test.each(failing)('with %s gives an error without the query string', async (_name, handle, expected) => {
    let requests = 0;
    await using server = await startHttpServer((request, response) => {
      requests += 1;
      handle(request, response);
    });
    const error: unknown = await fetchDocument(`${server.origin}/doc?api_key=hidden`, limits).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: expected.code, message: expect.stringMatching(expected.message) });
    expect(error).toMatchObject({ message: expect.stringContaining(`${server.origin}/doc`) });
    expect(error).toMatchObject({ message: expect.not.stringContaining('hidden') });
    expect(requests).toBe(1);
  });

  test('because there is no server is unavailable', async () => {
    const server = await startHttpServer(() => undefined);
    await server[Symbol.asyncDispose]();
    await expect(fetchDocument(server.origin, limits)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: /refused/ });
  });

  test('because the server never answers is given up', async () => {
    await using server = await startHttpServer(() => undefined);
    await expect(fetchDocument(server.origin, { ...limits, idleMs: 50 })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  test('because the server falls silent half-way is given up', async () => {
    await using server = await startHttpServer((_request, response) => response.write('half'));
    await expect(fetchDocument(server.origin, { ...limits, idleMs: 50 })).rejects.toMatchObject({ message: /stopped half-way/ });
  });

  test('because the server sends too slowly is given up in time', async () => {
    await using server = await startHttpServer((_request, response) => {
      const drip = setInterval(() => response.write('.'), 5);
      response.on('close', () => clearInterval(drip));
    });
    await expect(fetchDocument(server.origin, { ...limits, timeoutMs: 200 })).rejects.toMatchObject({ message: /longer than 200 ms/ });
  });

  test('because the caller gives up has the caller’s reason', async () => {
    const controller = new AbortController();
    await using server = await startHttpServer((_request, response) => response.write('x', () => controller.abort(new Error('enough'))));
    await expect(fetchDocument(server.origin, { ...limits, signal: controller.signal })).rejects.toThrow('enough');
    await expect(fetchDocument(server.origin, { ...limits, signal: controller.signal })).rejects.toThrow('enough');
  });
});

describe('the address of a document', () => {
  test.each([
    ['http://example.org/', /allow_insecure/],
    ['http://10.0.0.1/', /allow_insecure/],
    ['http://127.0.0.1.example.org/', /allow_insecure/],
    ['ftp://127.0.0.1/', /Only https/],
    ['file:///etc/hostname', /Only https/],
    ['data:text/plain,x', /Only https/],
    ['//127.0.0.1/', /not a URL/],
    ['https://user:hidden@example.org/', /user name or password/],
  ])('%s is refused without a request', async (url, message) => {
    const error: unknown = await fetchDocument(url, limits).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringMatching(message) });
    expect(error).toMatchObject({ message: expect.not.stringContaining('hidden') });
  });

  test('may be plain http on another machine where the operator says so', async () => {
    // A spelling of our own address that does not count as loopback, so that no request leaves this machine.
    await using server = await startHttpServer((_request, response) => response.end('x'));
    const url = `http://[::ffff:127.0.0.1]:${server.port}/`;
    await expect(fetchDocument(url, limits)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    // A machine without IPv6 cannot connect; that it was tried is then enough.
    const attempt: unknown = await fetchDocument(url, { ...limits, allowInsecure: true }).catch((reason: unknown) => reason);
    expect(attempt).not.toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  test.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['127.9.8.7', true],
    ['[::1]', true],
    ['128.0.0.1', false],
    ['localhost.example.org', false],
    ['127.0.0.1.example.org', false],
    ['', false],
  ])('%s is on loopback: %s', (host, expected) => {
    expect(isLoopbackHost(host)).toBe(expected);
  });
});

describe('a redirect', () => {
  /** Answers with the headers it was asked with, or sends on to where `to` says. */
  const start = (to: (path: string) => string | undefined) =>
    startHttpServer((request, response) => {
      const location = to(request.url ?? '');
      if (location === undefined) response.end(JSON.stringify(request.headers));
      else response.writeHead(302, { location }).end();
    });
  const headers = { authorization: 'Bearer hidden', 'x-api-key': 'hidden' };

  test('[SEC-1] is followed on request, and the document says where it was found', async () => {
    await using server = await start((path) => ({ '/1': '/2', '/2': '3', '/3': '/4?x' })[path]);
    const { url, body } = await fetchDocument(`${server.origin}/1`, { ...limits, headers, redirects: 3 });
    expect(url.href).toBe(`${server.origin}/4?x`);
    expect(JSON.parse(body)).toMatchObject(headers);
    await expect(fetchDocument(`${server.origin}/1`, { ...limits, redirects: 2 })).rejects.toThrow(/\/3: It answered with a redirect/);
  });

  test('[SEC-1] to another origin takes no credentials along, and does not get them back', async () => {
    await using other = await start((path) => (path === '/back' ? `${first.origin}/end` : undefined));
    await using first = await start((path) => ({ '/away': `${other.origin}/`, '/and-back': `${other.origin}/back` })[path]);
    for (const path of ['/away', '/and-back']) {
      const { body } = await fetchDocument(`${first.origin}${path}`, { ...limits, headers, redirects: 3 });
      expect(body).not.toContain('hidden');
    }
  });

  test.each([
    ['https://169.254.169.254/latest/meta-data', /metadata service/],
    ['https://10.1.2.3/', /private address/],
    ['file:///etc/passwd', /Only https addresses/],
    ['http://example.org/', /plain http on another machine/],
    ['https://user:hidden@example.org/', /user name or password/],
    ['http://', /not a URL/],
  ])('[SEC-1] to %s is refused', async (location, reason) => {
    await using server = await start(() => location);
    const error: unknown = await fetchDocument(server.origin, { ...limits, redirects: 3 }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ message: expect.stringMatching(reason) });
    expect(error).toMatchObject({ message: expect.not.stringContaining('hidden') });
  });

  test('[SEC-1] to this machine is refused where this machine is excluded', async () => {
    let asked = 0;
    await using inside = await start(() => {
      asked += 1;
      return undefined;
    });
    await using server = await start(() => `${inside.origin}/`);
    const { fetchDocument: fetchTrusting } = createEgress({}).trusting([server.origin]);
    await expect(fetchTrusting(server.origin, { ...limits, redirects: 3 })).rejects.toThrow('is an address of this machine');
    expect(asked).toBe(0);
  });
});
