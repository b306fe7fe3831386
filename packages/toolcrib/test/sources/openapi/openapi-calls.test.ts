import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CribError } from '../../../src/model/crib-error.ts';
import { InboundToken } from '../../../src/model/inbound-token.ts';
import { startHttpServer, type RunningServer } from '../../fixtures/http-server.ts';
import { samplePrincipal } from '../../fixtures/samples.ts';
import { httpBody, httpOperation, httpParameter, partEncoding } from './http-operation.ts';
import { openOpenApiCaller } from './openapi-caller.ts';

interface Seen {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

let seen: Seen[];
/** The answers of the service, one after the other; the last one is repeated. */
let answers: { status?: number; headers?: Record<string, string>; body?: string }[];
let server: RunningServer;
const opened: AsyncDisposable[] = [];

beforeEach(async () => {
  seen = [];
  answers = [{}];
  server = await startHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) });
      const { status = 200, headers = {}, body = '{}' } = (answers.length > 1 ? answers.shift() : answers[0]) ?? {};
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    });
  });
});
afterEach(async () => {
  for (const part of opened.splice(0)) await part[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

async function openCaller(...options: Parameters<typeof openOpenApiCaller>) {
  const caller = await openOpenApiCaller(...options);
  opened.push(caller);
  return caller;
}

const operation = (given = {}) => httpOperation({ server: `${server.origin}/v1`, path: '/things', ...given });
const secretKey = 'a-very-secret-key';
const keyed = (place: 'header' | 'query' | 'cookie', name: string) => ({
  definition: { credential: { type: 'api_key', in: place, name, value: { secret_ref: 'key' } } },
  secrets: { key: secretKey },
});
const caller = (text: string) => ({
  ...samplePrincipal(),
  key: `https://issuer.test ${text}`,
  expiresAt: Date.now() + 60_000,
  token: new InboundToken(text, `digest of ${text}`),
});

describe('a request to a service', () => {
  test('[HTTP-1] has the method, path, query, headers and body that were built', async () => {
    const { call } = await openCaller();
    const parameters = [
      httpParameter('id', 'path'),
      httpParameter("q'", 'query', { argument: 'q' }),
      httpParameter('X-A', 'header'),
      httpParameter('c', 'cookie'),
    ];
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']) {
      await call(operation({ method, path: '/things/{id}', parameters, body: httpBody('json', 'application/json') }), {
        id: 'a/b|c',
        q: "x'y",
        'X-A': 'é',
        c: '1',
        body: { n: 1 },
      });
    }
    expect(seen.map(({ method }) => method)).toEqual(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']);
    for (const { url, headers, body } of seen) {
      expect(url).toBe('/v1/things/a%2Fb%7Cc?q%27=x%27y');
      expect(headers).toMatchObject({
        'x-a': 'é',
        cookie: 'c=1',
        'content-type': 'application/json',
        accept: 'application/json',
        'user-agent': 'toolcrib',
      });
      expect(body.toString()).toBe('{"n":1}');
    }
  });

  test('[OAS-2] transfers files byte for byte', async () => {
    const { call } = await openCaller();
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    await call(operation({ method: 'PUT', body: httpBody('binary', 'application/octet-stream') }), { body: bytes.toString('base64') });
    expect(seen[0]?.body.equals(bytes)).toBe(true);
    expect(seen[0]?.headers['content-length']).toBe('256');
    const parts = httpBody('multipart', 'multipart/form-data', { file: partEncoding({ binary: true }) });
    await call(operation({ method: 'POST', body: parts }), {
      body: { file: { data: bytes.toString('base64'), filename: 'all.bin' }, note: 'ü' },
    });
    const form = await new Response(new Uint8Array(seen[1]?.body ?? []), {
      headers: { 'content-type': seen[1]?.headers['content-type'] ?? '' },
    }).formData();
    const file = form.get('file') as File;
    expect([form.get('note'), file.name, Buffer.from(await file.arrayBuffer()).equals(bytes)]).toEqual(['ü', 'all.bin', true]);
  });

  test('[OPS-1] carries the trace context', async () => {
    const { call } = await openCaller();
    const trace = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: 'x=1' };
    await call(operation(), {}, { context: { trace } });
    expect(seen[0]?.headers).toMatchObject(trace);
  });

  test('follows a redirect within the server', async () => {
    answers = [{ status: 307, headers: { location: '/v1/other?x=1' } }, { body: '{"ok":true}' }];
    const { call } = await openCaller();
    const output = await call(operation({ method: 'POST', body: httpBody('json', 'application/json') }), { body: 1 });
    expect(output.structured_content).toEqual({ ok: true });
    expect(seen.map(({ method, url, body }) => [method, url, body.toString()])).toEqual([
      ['POST', '/v1/things', '1'],
      ['POST', '/v1/other?x=1', '1'],
    ]);
  });

  test('[SEC-1] is refused over plain http to another machine', async () => {
    const { call } = await openCaller();
    await expect(call(operation({ server: 'http://192.0.2.1' }))).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    await expect(call(operation({ server: 'ftp://example.org' }))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
});

describe('[OAS-4] the credential', () => {
  test('goes into a header, a query or a cookie, and no argument replaces it', async () => {
    const parameters = [
      httpParameter('X-Key', 'header'),
      httpParameter('key', 'query'),
      httpParameter('session', 'cookie'),
      httpParameter('lang', 'cookie'),
    ];
    const args = { 'X-Key': 'mine', key: 'mine', session: 'mine', lang: 'en' };
    await (await openCaller(keyed('header', 'X-Key'))).call(operation({ parameters }), args);
    await (await openCaller(keyed('query', 'key'))).call(operation({ parameters }), args);
    await (await openCaller(keyed('cookie', 'session'))).call(operation({ parameters }), args);
    expect(seen[0]).toMatchObject({ url: '/v1/things?key=mine', headers: { 'x-key': secretKey, cookie: 'session=mine; lang=en' } });
    expect(seen[1]).toMatchObject({ url: `/v1/things?key=${secretKey}`, headers: { 'x-key': 'mine' } });
    expect(seen[2]).toMatchObject({ url: '/v1/things?key=mine', headers: { cookie: `session=${secretKey}; lang=en` } });
  });

  test('is not sent to a public operation, which still gets the registered headers', async () => {
    const { call } = await openCaller({
      definition: {
        credential: { type: 'bearer', token: { value: secretKey } },
        headers: { 'X-Tenant': { value: 'acme' }, Accept: { value: 'text/x' } },
      },
    });
    await call(operation({ sends_credential: false, parameters: [httpParameter('x-tenant', 'header')] }), { 'x-tenant': 'other' });
    await call(operation());
    expect(seen[0]?.headers).toMatchObject({ 'x-tenant': 'acme', accept: 'text/x' });
    expect(seen[0]?.headers).not.toHaveProperty('authorization');
    expect(seen[1]?.headers).toMatchObject({ 'x-tenant': 'acme', authorization: `Bearer ${secretKey}` });
  });

  test('[ID-4] of a caller is theirs alone, and public operations need none', async () => {
    const { call } = await openCaller({ definition: { credential: { type: 'caller_token' } } });
    for (const name of ['alice', 'bob', 'alice']) await call(operation(), {}, { principal: caller(`token-of-${name}`) });
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['alice', 'bob', 'alice'].map((name) => `Bearer token-of-${name}`));
    await expect(call(operation())).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await call(operation({ sends_credential: false }));
    expect(seen).toHaveLength(4);
  });

  test('that is refused is resolved again for the next call', async () => {
    const { call, secrets } = await openCaller(keyed('header', 'X-Key'));
    await call(operation());
    await secrets.put('key', 'another-secret-key');
    answers = [{ status: 401 }, {}];
    await expect(call(operation())).rejects.toMatchObject({ code: 'UNAUTHENTICATED', upstreamStatus: 401 });
    await call(operation());
    expect(seen.map(({ headers }) => headers['x-key'])).toEqual([secretKey, secretKey, 'another-secret-key']);
  });

  test('[ERR-3] that is missing is an error, and nothing is sent', async () => {
    const { call } = await openCaller({ definition: { credential: { type: 'bearer', token: { secret_ref: 'nowhere' } } } });
    await expect(call(operation())).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(seen).toEqual([]);
  });

  test('[ENV-4] is in nothing that the caller sees', async () => {
    const { call } = await openCaller(keyed('header', 'X-Key'));
    const leak = { message: `Your key ${secretKey}`, deep: [{ [secretKey]: secretKey }], escaped: 'a-very' };
    answers = [
      { body: JSON.stringify(leak).replace('a-very"', `\\u0061${secretKey.slice(1)}"`), headers: { location: `/x?key=${secretKey}` } },
    ];
    const output = await call(operation());
    expect(JSON.stringify(output)).not.toContain(secretKey);
    expect(output.structured_content).toMatchObject({ message: 'Your key ***', escaped: '***' });
    answers = [{ status: 400, body: JSON.stringify(leak) }];
    const { message, stack, details } = await call(operation()).then(
      () => expect.unreachable('It should have failed'),
      (failure: unknown) => failure as CribError,
    );
    expect(JSON.stringify({ message, stack, details })).not.toContain(secretKey);
  });
});

test('[OPS-1] messages are kept while somebody wants to see them, without the credential', async () => {
  const { call, wire } = await openCaller(keyed('header', 'X-Key'));
  await call(operation());
  wire.start(Date.now() + 60_000);
  answers = [{ body: `{"key":"${secretKey}","name":"Ada"}` }];
  await call(operation({ method: 'POST', body: httpBody('json', 'application/json') }), { body: { a: 1 } });
  wire.stop();
  const lines = wire.log
    .tail(100)
    .map(({ text }) => text)
    .join('\n');
  expect(lines).toContain('"method":"POST"');
  expect(lines).toContain('Ada');
  expect(lines).not.toContain(secretKey);
});

test('a closed source answers no more calls', async () => {
  const { call, calls } = await openCaller();
  await call(operation());
  await calls.close();
  await expect(call(operation())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

test('a long-running operation is polled', async () => {
  answers = [
    { status: 202, headers: { location: '/v1/orders/7' }, body: '{"status":"baking"}' },
    { body: '{"status":"baking"}' },
    { status: 303, headers: { location: '/v1/pizza/7' }, body: '' },
    { body: '{"pizza":"Margherita"}' },
  ];
  const { call } = await openCaller(keyed('header', 'X-Key'));
  const poll = {
    status_field_path: 'status',
    completed_values: ['ready'],
    failed_values: [],
    max_attempts: 10,
    interval_ms: 10,
    backoff: 1,
    max_interval_ms: 10,
  };
  const steps = { run: <T>(_name: string, _options: object, work: () => Promise<T>) => work(), sleep: async () => undefined };
  const output = await call(operation({ method: 'POST', poll }), {}, { context: { steps } });
  expect(output.structured_content).toEqual({ pizza: 'Margherita' });
  expect(seen.map(({ method, url, headers }) => [method, url, headers['x-key']])).toEqual([
    ['POST', '/v1/things', secretKey],
    ['GET', '/v1/orders/7', secretKey],
    ['GET', '/v1/orders/7', secretKey],
    ['GET', '/v1/pizza/7', secretKey],
  ]);
});
