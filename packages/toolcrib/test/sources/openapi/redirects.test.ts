import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startHttpServer, type RunningServer } from '../../fixtures/http-server.ts';
import { httpBody, httpOperation, httpParameter } from './http-operation.ts';
import { openOpenApiCaller } from './openapi-caller.ts';

interface Seen {
  line: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A service that redirects each path in this table, and answers every other. */
type Table = Record<string, [status: number, location?: string]>;

let table: Table;
let seen: Seen[];
let server: RunningServer;
let elsewhere: RunningServer;
const opened: AsyncDisposable[] = [];

const service = (name: string) =>
  startHttpServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      seen.push({ line: `${name} ${method} ${url}`, headers, body });
      const [status, location] = table[url.split('?')[0] ?? ''] ?? [200];
      const head = { 'content-type': 'application/json', ...(location !== undefined && { location }) };
      response.writeHead(status, head).end(status === 200 ? '{"ok":true}' : '{"page":"for people"}');
    });
  });

beforeEach(async () => {
  seen = [];
  table = {};
  server = await service('here');
  elsewhere = await service('elsewhere');
});
afterEach(async () => {
  for (const part of opened.splice(0)) await part[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await elsewhere[Symbol.asyncDispose]();
});

const secretKey = 'a-very-secret-key';

async function openCaller(definition = {}) {
  const caller = await openOpenApiCaller({
    definition: { credential: { type: 'api_key', in: 'header', name: 'X-Key', value: { secret_ref: 'key' } }, ...definition },
    secrets: { key: secretKey },
  });
  opened.push(caller);
  return caller;
}

const lines = () => seen.map(({ line }) => line);
const get = (given = {}) => httpOperation({ server: server.origin, path: '/a', ...given });
const post = (given = {}) => get({ method: 'POST', body: httpBody('json', 'application/json'), ...given });

describe('[HTTP-2] a redirect within the server is followed', () => {
  test.each([
    [303, 'POST', ['POST /a', 'GET /b']],
    [303, 'DELETE', ['DELETE /a', 'GET /b']],
    [307, 'POST', ['POST /a', 'POST /b']],
    [308, 'PUT', ['PUT /a', 'PUT /b']],
    [301, 'GET', ['GET /a', 'GET /b']],
    [302, 'GET', ['GET /a', 'GET /b']],
    [303, 'HEAD', ['HEAD /a', 'HEAD /b']],
  ])('with the status %i after %s', async (status, method, expected) => {
    table = { '/a': [status, '/b'] };
    const { call } = await openCaller();
    const { metadata } = await call(method === 'GET' || method === 'HEAD' ? get({ method }) : post({ method }), { body: { n: 1 } });
    expect(lines()).toEqual(expected.map((line) => `here ${line}`));
    expect(metadata).toMatchObject({ http: { status: 200, redirects: [{ status, location: '/b' }] } });
    expect(seen.map(({ headers }) => headers['x-key'])).toEqual([secretKey, secretKey]);
    const last = seen[1];
    const keepsBody = method === 'POST' || method === 'PUT' ? status !== 303 : false;
    expect([last?.body, last?.headers['content-type']]).toEqual(keepsBody ? ['{"n":1}', 'application/json'] : ['', undefined]);
  });

  test('with the key in the query again, and up to five times', async () => {
    table = { '/a': [302, '/b?x=1'], '/b': [302, '/c'], '/c': [302, '/d'], '/d': [302, '/e'], '/e': [302, '/f'] };
    const credential = { type: 'api_key', in: 'query', name: 'key', value: { secret_ref: 'key' } };
    const { call } = await openCaller({ credential });
    const { structured_content } = await call(get());
    expect(structured_content).toEqual({ ok: true });
    expect(lines().slice(0, 2)).toEqual([`here GET /a?key=${secretKey}`, `here GET /b?x=1&key=${secretKey}`]);
    table['/f'] = [302, '/g'];
    await expect(call(get())).rejects.toThrow('The request was already redirected 5 times');
  });

  test('and not in a circle', async () => {
    table = { '/a': [302, '/b'], '/b': [302, '/a'] };
    const { call } = await openCaller();
    await expect(call(get())).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: false, upstreamStatus: 302 });
    expect(lines()).toEqual(['here GET /a', 'here GET /b']);
  });
});

describe('[HTTP-2] a redirect that is not followed', () => {
  test.each<[what: string, status: number, location: string | undefined, message: string]>([
    ['without a Location', 302, undefined, 'status 302: The redirect has no valid Location header'],
    ['with a Location that is none', 302, 'http://[', 'a redirect to http://[. The redirect has no valid Location'],
    ['of an unknown kind', 399, '/b', 'GET /a was answered with status 399: a redirect to /b'],
    ['to another server', 302, 'https://other.example/x?y=1', 'add https://other.example to openapi.origins'],
  ])('%s is reported once, with its target', async (_what, status, location, message) => {
    table = { '/a': [status, location] };
    const { call } = await openCaller();
    await expect(call(get())).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryable: false,
      upstreamStatus: status,
      message: expect.stringContaining(message),
      details: { headers: location === undefined ? {} : { location }, body: { page: 'for people' } },
    });
    expect(lines()).toEqual(['here GET /a']);
  });

  test.each([301, 302])('as a %i after POST says what to do', async (status) => {
    table = { '/a': [status, '/b'] };
    const { call } = await openCaller();
    await expect(call(post(), { body: 1 })).rejects.toThrow(
      `POST /a was answered with status ${status}: a redirect to /b. A ${status} after POST is not followed: correct the address`,
    );
    expect(lines()).toEqual(['here POST /a']);
  });

  test('is the result if nothing else is documented', async () => {
    table = { '/a': [302, 'https://files.example/signed'] };
    const { call } = await openCaller();
    expect(await call(get({ answers_with_redirect: true }))).toMatchObject({
      structured_content: { page: 'for people' },
      metadata: { http: { status: 302, headers: { location: 'https://files.example/signed' } } },
    });
  });
});

describe('[SEC-1] a redirect to another server that is listed', () => {
  const listed = () => ({ origins: [server.origin, elsewhere.origin] });

  test('is followed without anything of ours, even when it leads back', async () => {
    table = { '/a': [303, `${elsewhere.origin}/there`], '/there': [302, `${server.origin}/back`] };
    const { call } = await openCaller({ ...listed(), headers: { 'X-Own': { value: 'registered' } } });
    const parameters = [httpParameter('X-Given', 'header'), httpParameter('session', 'cookie')];
    await call(post({ parameters }), { body: { n: 1 }, 'X-Given': 'by the caller', session: 's' });
    expect(lines()).toEqual(['here POST /a', 'elsewhere GET /there', 'here GET /back']);
    for (const { headers, body } of seen.slice(1)) {
      expect(Object.keys(headers).toSorted()).toEqual(['accept', 'connection', 'host', 'user-agent']);
      expect(body).toBe('');
    }
  });

  test('takes no body along', async () => {
    table = { '/a': [307, `${elsewhere.origin}/there`] };
    const { call } = await openCaller(listed());
    await expect(call(post(), { body: 1 })).rejects.toThrow('The redirect leads to another server, where a POST is never repeated');
  });

  test('is refused if its network is forbidden', async () => {
    table = { '/a': [302, 'https://169.254.169.254/latest'] };
    const { call } = await openCaller({ origins: [server.origin, 'https://169.254.169.254'] });
    await expect(call(get())).rejects.toMatchObject({ retryable: false, message: expect.stringContaining('never asked') });
  });

  test('[EXEC-8] that cannot be reached does not repeat the first request', async () => {
    await elsewhere[Symbol.asyncDispose]();
    table = { '/a': [303, `${elsewhere.origin}/there`] };
    const { call } = await openCaller(listed());
    await expect(call(post(), { body: 1 })).rejects.toMatchObject({
      name: 'ConnectionError',
      message: expect.stringContaining('The redirect could not be followed'),
    });
  });
});
