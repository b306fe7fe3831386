import type { RequestListener } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CribError } from '../../../../src/model/crib-error.ts';
import { EndSwitch } from '../../../../src/model/end-signal.ts';
import { startHttpServer, type RunningServer } from '../../../fixtures/http-server.ts';
import { httpOperation, httpParameter } from '../http-operation.ts';
import { openOpenApiCaller } from '../openapi-caller.ts';

let answer: RequestListener;
let server: RunningServer;
let caller: Awaited<ReturnType<typeof openOpenApiCaller>>;

beforeAll(async () => {
  server = await startHttpServer((request, response) => answer(request, response));
  caller = await openOpenApiCaller();
});
afterAll(async () => {
  await caller[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const operation = (given = {}) => httpOperation({ server: server.origin, path: '/things', ...given });

/** The output for a body of this type. */
function answered(type: string | null, body: string | Buffer, headers: Record<string, string> = {}, status = 200) {
  answer = (_request, response) =>
    void response.writeHead(status, { ...(type !== null && { 'content-type': type }), ...headers }).end(body);
  return caller.call(operation());
}

async function failed(status: number, body: string | Buffer = '', headers: Record<string, string> = {}): Promise<CribError> {
  return answered('application/json', body, headers, status).then(
    () => expect.unreachable('It should have failed'),
    (error: unknown) => error as CribError,
  );
}

describe('[HTTP-2] a stream without an end', () => {
  /** Sends this and stays. */
  function streamed(type: string, text: string, leftMs: number | undefined) {
    answer = (_request, response) => void response.writeHead(200, { 'content-type': type }).write(text);
    return caller.call(operation(), {}, { context: { leftMs } });
  }

  test.each(['text/event-stream', 'text/event-stream; charset=utf-8', 'application/x-ndjson'])(
    'gives what came in time, up to the last whole line: %s',
    async (type) => {
      const { content, metadata } = await streamed(type, 'data: one\n\ndata: two\n\ndata: thr', 200);
      expect(content).toEqual([{ type: 'text', text: 'data: one\n\ndata: two\n\n' }]);
      expect(metadata).toMatchObject({ stream_cut: 'time' });
    },
  );

  test('gives what came before it broke off', async () => {
    answer = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: one\n\n', () => response.destroy());
    const { content, metadata } = await caller.call(operation(), {}, { context: { leftMs: 60_000 } });
    expect(content).toEqual([{ type: 'text', text: 'data: one\n\n' }]);
    expect(metadata).toMatchObject({ stream_cut: 'connection' });
  });

  test('differs from one that ends, which is an answer like any other', async () => {
    answer = (_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: one');
    const { content, metadata } = await caller.call(operation(), {}, { context: { leftMs: 60_000 } });
    expect(content).toEqual([{ type: 'text', text: 'data: one' }]);
    expect(metadata).not.toHaveProperty('stream_cut');
  });
});

describe('[HTTP-2] by its content type', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/problem+json',
    'text/json',
    'Application/JSON; charset=latin1',
  ])('%s is structured, and text', async (type) => {
    const output = await answered(type, '{"a": "ü"}');
    expect(output.structured_content).toEqual({ a: 'ü' });
    expect(output.content).toEqual([{ type: 'text', text: '{"a": "ü"}' }]);
  });

  test('a JSON answer may have a byte order mark, another encoding, or a single value', async () => {
    expect((await answered('application/json', '\ufeff[1]')).structured_content).toEqual([1]);
    expect((await answered('application/json; charset=iso-8859-1', Buffer.from('{"a":"ü"}', 'latin1'))).structured_content).toEqual({
      a: 'ü',
    });
    expect((await answered('application/json', '"x"')).structured_content).toBe('x');
    expect((await answered('application/json', 'null')).structured_content).toBeNull();
  });

  test('invalid JSON is text, and says so', async () => {
    const output = await answered('application/json', '{"a": ');
    expect(output).toMatchObject({ content: [{ type: 'text', text: '{"a": ' }], metadata: { invalid_json: true } });
    expect(output).not.toHaveProperty('structured_content');
  });

  test.each([
    'text/plain',
    'text/csv',
    'text/html; charset=utf-8',
    'application/xml',
    'application/atom+xml',
    'image/svg+xml',
    'application/yaml',
  ])('%s is text', async (type) => {
    expect((await answered(type, 'Grüße')).content).toEqual([{ type: 'text', text: 'Grüße' }]);
  });

  test('text may have another encoding, known or not', async () => {
    expect((await answered('text/plain; charset=ISO-8859-1', Buffer.from('ü', 'latin1'))).content).toEqual([{ type: 'text', text: 'ü' }]);
    expect((await answered('text/plain; charset=klingon', 'a')).content).toEqual([{ type: 'text', text: 'a' }]);
  });

  test.each([
    ['image/png', 'image'],
    ['audio/mpeg', 'audio'],
  ])('%s is %s', async (mimeType, type) => {
    expect((await answered(mimeType, Buffer.from([0, 255]))).content).toEqual([{ type, data: 'AP8=', mimeType }]);
  });

  test.each([
    ['attachment; filename="../../etc/report final.pdf"', 'report final.pdf'],
    ["attachment; filename=a.pdf; filename*=UTF-8''%e2%82%ac%20rates.pdf", '€ rates.pdf'],
    ['attachment; filename="..\\\\..\\\\evil.exe"', 'evil.exe'],
    ['attachment; filename=".\u202egpj.exe"', 'gpj.exe'],
    ['attachment', 'answer'],
  ])('any other type is a file, with a safe name: %s', async (disposition, name) => {
    const output = await answered('application/pdf', Buffer.from('%PDF'), {
      'content-disposition': Buffer.from(disposition).toString('latin1'),
    });
    expect(output.content).toEqual([
      {
        type: 'resource',
        resource: { uri: `attachment:${encodeURIComponent(name)}`, name, mimeType: 'application/pdf', blob: 'JVBERg==' },
      },
    ]);
  });

  test('an answer without a type is JSON, text or a file by its content', async () => {
    expect((await answered(null, '{"a":1}')).structured_content).toEqual({ a: 1 });
    expect((await answered(null, 'plain')).content).toEqual([{ type: 'text', text: 'plain' }]);
    expect((await answered(null, Buffer.from([0, 1]))).content[0]?.type).toBe('resource');
  });

  test('an empty answer is an empty text, with the status beside it', async () => {
    const output = await answered(
      null,
      '',
      { location: '/things/7', etag: '"x"', 'set-cookie': 'session=1', 'x-ratelimit-remaining': '9' },
      204,
    );
    expect(output).toEqual({
      content: [{ type: 'text', text: '' }],
      metadata: { http: { status: 204, headers: { location: '/things/7', etag: '"x"', 'x-ratelimit-remaining': '9' } } },
    });
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ])('a body in %s is decoded, although nobody asked for it', async (encoding, compress) => {
    const output = await answered('application/json', compress('{"a":1}'), { 'content-encoding': encoding });
    expect(output.structured_content).toEqual({ a: 1 });
  });

  test('a small body that decompresses into a large one is given up', async () => {
    const bomb = gzipSync(Buffer.alloc(33_554_433));
    await expect(answered('application/json', bomb, { 'content-encoding': 'gzip' })).rejects.toThrow('larger than the 33554432 bytes');
    await expect(answered('application/json', 'x', { 'content-encoding': 'gzip' })).rejects.toThrow('is not the gzip');
    await expect(answered('application/json', 'x', { 'content-encoding': 'zip' })).rejects.toThrow('not asked for');
  });

  test('an endless answer is given up, with or without a length', async () => {
    answer = (_request, response) => void response.writeHead(200, { 'content-length': '99999999999' }).write('x');
    await expect(caller.call(operation())).rejects.toThrow('larger than the 33554432 bytes');
    const chunk = Buffer.alloc(1_048_576, 'x');
    answer = (_request, response) => {
      const pump = () => {
        while (response.write(chunk));
      };
      response.on('drain', pump);
      pump();
    };
    await expect(caller.call(operation())).rejects.toThrow('larger than the 33554432 bytes');
  });
});

describe('[HTTP-2] every status except success is an error with that status', () => {
  test.each([
    [400, 'VALIDATION_ERROR', false],
    [401, 'UNAUTHENTICATED', false],
    [403, 'FORBIDDEN', false],
    [404, 'NOT_FOUND', false],
    [405, 'VALIDATION_ERROR', false],
    [408, 'SERVICE_UNAVAILABLE', true],
    [409, 'CONFLICT', false],
    [410, 'NOT_FOUND', false],
    [412, 'CONFLICT', false],
    [413, 'PAYLOAD_TOO_LARGE', false],
    [422, 'VALIDATION_ERROR', false],
    [429, 'RATE_LIMITED', true],
    [500, 'SERVICE_UNAVAILABLE', true],
    [503, 'SERVICE_UNAVAILABLE', true],
    [304, 'CONFLICT', false],
    [300, 'SERVICE_UNAVAILABLE', false],
  ])('[ERR-10] %i is %s', async (status, code, retryable) => {
    expect(await failed(status)).toMatchObject({ code, retryable, upstreamStatus: status });
  });

  test.each([
    ['{"message": "No such pet"}', 'No such pet'],
    ['{"error": "invalid"}', 'invalid'],
    ['{"error": {"message": "Deep", "code": 7}}', 'Deep'],
    ['{"error": "invalid_grant", "error_description": "The grant has ended"}', 'invalid_grant: The grant has ended'],
    ['{"error_description": "The grant has ended"}', 'The grant has ended'],
    ['{"title": "Bad Request", "detail": "name is missing"}', 'Bad Request: name is missing'],
    ['{"errors": [{"message": "First"}, {"message": "Second"}]}', 'First'],
    ['{"errors": ["One"]}', 'One'],
    ['{"detail": [{"loc": ["query", "q"], "msg": "field required"}]}', 'field required'],
    ['[{"message": "In a list"}]', 'In a list'],
    ['<html><head><title>502 Bad Gateway</title></head><body>…</body></html>', '502 Bad Gateway'],
    ['plain words', 'plain words'],
  ])('the message is that of the service: %s', async (body, words) => {
    expect((await failed(400, body)).message).toBe(`GET /things was answered with status 400: ${words}`);
  });

  test('the body is in the details, bounded', async () => {
    expect((await failed(422, '{"field": "name"}', { 'x-request-id': 'r1' })).details).toEqual({
      headers: { 'content-type': 'application/json', 'x-request-id': 'r1' },
      body: { field: 'name' },
    });
    const long = await failed(400, JSON.stringify({ message: 'x'.repeat(20_000) }));
    expect(JSON.stringify(long.details).length).toBeLessThan(5000);
    expect(long.message.length).toBeLessThan(600);
    expect((await failed(500, 'x'.repeat(100_000))).message).toBe('GET /things was answered with status 500');
    expect((await failed(400, Buffer.from([0, 1, 2]))).details).toEqual({ headers: { 'content-type': 'application/json' } });
  });

  test('Retry-After can be seconds or a date', async () => {
    expect(await failed(429, '', { 'retry-after': '7' })).toMatchObject({ retryAfterMs: 7000 });
    const { retryAfterMs = 0 } = await failed(503, '', { 'retry-after': new Date(Date.now() + 60_000).toUTCString() });
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
    expect((await failed(503, '', { 'retry-after': 'soon' })).retryAfterMs).toBeUndefined();
  });

  test('a connection that breaks half-way, or is refused, is a connection error', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('part', () => response.destroy());
    };
    await expect(caller.call(operation())).rejects.toMatchObject({ name: 'ConnectionError', code: 'NETWORK_ERROR' });
    const gone = await startHttpServer(() => undefined);
    await gone[Symbol.asyncDispose]();
    await expect(caller.call(operation({ server: gone.origin }))).rejects.toMatchObject({ name: 'UnreachableError' });
  });

  test('a redirect to another server is not followed', async () => {
    answer = (_request, response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/elsewhere' }).end();
    await expect(caller.call(operation())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', upstreamStatus: 302 });
  });

  test('a call that is ended while it waits is over at once', async () => {
    const signal = new EndSwitch();
    const reason = new Error('enough');
    answer = () => signal.end(reason);
    await expect(caller.call(operation(), {}, { signal })).rejects.toBe(reason);
  });
});

describe('[HTTP-2] the next page of a list', () => {
  const paged = (pagination: { pointer: string; argument: string } | null = null) =>
    operation({
      parameters: [httpParameter('page', 'query'), httpParameter('tags', 'query'), httpParameter('cursor', 'query')],
      pagination,
    });
  const schema = { type: 'object', properties: { page: { type: 'integer' }, tags: { type: 'array' }, cursor: { type: 'string' } } };

  async function next(
    link: string,
    args: Record<string, string | number | string[]>,
    body = '{}',
    pagination?: Parameters<typeof paged>[0],
  ) {
    answer = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'application/json', ...(link !== '' && { link }) }).end(body);
    return (await caller.call(paged(pagination), args, { schema })).metadata?.['next_page'];
  }

  test('is given as arguments of the tool if the answer has a link', async () => {
    const args = { page: 1, tags: ['a', 'b'] };
    const link = '</things?page=9&tags=a&tags=b>; rel="last", </things?page=2&tags=a&tags=b>; rel="next"';
    expect(await next(link, args)).toEqual({ arguments: { page: 2, tags: ['a', 'b'] } });
    expect(await next(`<${server.origin}/things?cursor=007>; rel=next`, args)).toEqual({ arguments: { cursor: '007' } });
  });

  test.each([
    ['another server', '<https://evil.example/things?page=2>; rel="next"'],
    ['another path', '</others?page=2>; rel="next"'],
    ['a parameter that the operation does not have', '</things?page=2&secret=1>; rel="next"'],
    ['no next page', '</things?page=2>; rel="prev"'],
    ['nonsense', '<<<;;rel=next'],
  ])('is not given for %s', async (_what, link) => {
    expect(await next(link, { page: 1 })).toBeUndefined();
  });

  test('is given for a cursor in the answer if the document describes one', async () => {
    const pagination = { pointer: '/meta/next', argument: 'cursor' };
    expect(await next('', { page: 1 }, '{"meta":{"next":"abc"}}', pagination)).toEqual({ arguments: { page: 1, cursor: 'abc' } });
    for (const body of ['{"meta":{"next":""}}', '{"meta":{"next":null}}', '{}', '[]'])
      expect(await next('', {}, body, pagination)).toBeUndefined();
  });
});
