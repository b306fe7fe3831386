import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tool } from '../../src/model/tool.ts';
import { corpusPath } from '../fixtures/openapi/corpus.ts';
import { registerJudged } from '../fixtures/openapi/judged-tools.ts';
import { startHttpbin, type Judge } from '../fixtures/openapi/start-judge.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { part } from '../parts.ts';

const httpbin = part('httpbin');

const styles = join(import.meta.dirname, '../fixtures/openapi/styles-3.1.yaml');
let judge: Judge;
let server: OpenServer;
let tools: Tool[] = [];

beforeAll(async () => {
  if (!httpbin.available) return;
  judge = await startHttpbin(httpbin.url);
  server = await startOpenServer({ allowedNetworks: ['loopback'] });
  await registerJudged(server.admin, { name: 'styles', path: styles, serverUrl: judge.origin });
  tools = await registerJudged(server.admin, { name: 'httpbin', path: corpusPath('httpbin-2.0.json', ''), serverUrl: judge.origin });
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await judge?.[Symbol.asyncDispose]();
});

/** The request as httpbin reports it. */
async function echoed(operation: string, args: object) {
  const { status, json } = await server.alice.call(`styles:${operation}`, args);
  expect({ status, error: json.error ?? json.message ?? null }).toEqual({ status: 200, error: null });
  return json.structured_content;
}

const nameOf = (method: string, path: string) =>
  tools.find(({ operation }) => operation?.method === method && operation.path === path)?.name ?? `no ${method} ${path}`;
const call = (method: string, path: string, args: object = {}) => server.alice.call(nameOf(method, path), args);

const list = ['a b', 'c&d', 'é'];
const object = { R: 100, G: 'x/y' };

describe.skipIf(!httpbin.available)('httpbin receives', () => {
  test.for([
    ['matrix', ';list=a b,c&d,é/;R=100;G=x%2Fy'],
    ['label', '.a b.c&d.é/.R,100,G,x%2Fy'],
    ['simple', 'a b,c&d,é/R=100,G=x%2Fy'],
  ])('[OAS-2] lists and objects in the path in the style %s', async ([operation = '', expected = '']) => {
    const { url } = await echoed(operation, { list, object });
    const path = new URL(url).pathname.slice(`/anything/${operation}/`.length);
    expect(decodeURIComponent(path)).toBe(decodeURIComponent(expected));
  });

  test('[OAS-2] every style of a query', async () => {
    const { args } = await echoed('query', {
      exploded: list,
      joined: list,
      spaced: list,
      piped: list,
      deep: object,
      flat: object,
      paired: object,
      json: object,
      text: 'a+b=c & d?#%/é🙂',
    });
    expect(args).toEqual({
      exploded: list,
      joined: 'a b,c&d,é',
      spaced: 'a b c&d é',
      piped: 'a b|c&d|é',
      'deep[R]': '100',
      'deep[G]': 'x/y',
      R: '100',
      G: 'x/y',
      paired: 'R,100,G,x/y',
      json: JSON.stringify(object),
      text: 'a+b=c & d?#%/é🙂',
    });
  });

  test('[OAS-2] lists and objects in headers, and cookies', async () => {
    const { headers } = await echoed('headers', { 'X-List': ['a', 'b'], 'X-Object': { R: 1, G: 'g' }, 'X-Text': 'a b; "c"' });
    expect(headers).toMatchObject({ 'X-List': 'a,b', 'X-Object': 'R=1,G=g', 'X-Text': 'a b; "c"' });
    const cookies = await echoed('cookies', { session: 'a1', list: ['b', 'c'] });
    expect(cookies.headers.Cookie).toBe('session=a1; list=b,c');
    expect(await echoed('readCookies', { session: 'a1', R: 7 })).toEqual({ cookies: { session: 'a1', R: '7' } });
  });

  const bodies = [{ a: [1, null, 'é🙂'] }, [], 'text', 12.5, false].map((body) => ({ body }));
  test.for(bodies)('[OAS-2] a JSON body: $body', async ({ body }) => {
    const { json, headers, method } = await echoed('json', { body });
    expect([json, headers['Content-Type'], method]).toEqual([body, 'application/json', 'PUT']);
  });

  test('[OAS-2] a form', async () => {
    const { form, headers } = await echoed('form', { body: { text: 'a+b=c & é🙂\r\nd', list, joined: list, deep: object, json: object } });
    expect(headers['Content-Type']).toBe('application/x-www-form-urlencoded');
    expect(form).toEqual({
      text: 'a+b=c & é🙂\r\nd',
      list,
      joined: 'a b,c&d,é',
      'deep[R]': '100',
      'deep[G]': 'x/y',
      json: JSON.stringify(object),
    });
  });

  test('[OAS-2] parts of a multipart body, with files', async () => {
    const bytes = Buffer.from([0, 255, 13, 10, 45, 45]);
    const { form, files } = await echoed('multipart', {
      body: {
        text: 'é "quoted"',
        list,
        object,
        file: bytes.toString('base64'),
        picture: { data: bytes.toString('base64'), filename: 'a "b".png', content_type: 'image/png' },
      },
    });
    expect(form).toMatchObject({ text: 'é "quoted"', list, object: JSON.stringify(object) });
    expect(files).toEqual({
      file: `data:application/octet-stream;base64,${bytes.toString('base64')}`,
      picture: `data:image/png;base64,${bytes.toString('base64')}`,
    });
  });

  test('[OAS-2] text and bytes as they are', async () => {
    expect((await echoed('text', { body: 'é\n🙂' })).data).toBe('é\n🙂');
    const bytes = Buffer.from([0, 255, 10]).toString('base64');
    expect((await echoed('bytes', { body: bytes })).data).toBe(`data:application/octet-stream;base64,${bytes}`);
    expect((await echoed('encoded', { body: bytes })).data).toBe(bytes);
  });
});

describe.skipIf(!httpbin.available)('an answer of httpbin', () => {
  test('[HTTP-2] can be JSON, text or a page', async () => {
    const { json: answer } = await call('GET', '/json');
    expect(answer.structured_content.slideshow.author).toBe('Yours Truly');
    expect((await call('GET', '/robots.txt')).json.text).toContain('Disallow: /deny');
    expect((await call('GET', '/encoding/utf8')).json.text).toContain('STARGΛ̊TE');
    expect((await call('GET', '/xml')).json.text).toContain('<slideshow');
  });

  test('[HTTP-2] can be a picture or bytes', async () => {
    const [picture] = (await call('GET', '/image/png')).json.content;
    expect(picture).toMatchObject({ type: 'image', mimeType: 'image/png' });
    const { json } = await call('GET', '/bytes/{n}', { n: 64 });
    expect(json).toMatchObject({ success: true, is_error: false });
    expect(JSON.stringify(json.content)).toContain('application/octet-stream');
  });

  test('[HTTP-2] can be compressed', async () => {
    expect((await call('GET', '/gzip')).json).toMatchObject({ success: true, structured_content: { gzipped: true } });
    expect((await call('GET', '/deflate')).json).toMatchObject({ success: true, structured_content: { deflated: true } });
  });

  test('[HTTP-2] can be a redirect on the same server, which is followed', async () => {
    const { json } = await call('GET', '/redirect/{n}', { n: 3 });
    expect(json).toMatchObject({ success: true, structured_content: { url: `${judge.origin}/get` } });
  });

  test.for<[status: number, expected: object]>([
    [301, { success: false, error: { upstream_status: 301 } }],
    [302, { success: false, error: { upstream_status: 302 } }],
    [303, { success: true, structured_content: { method: 'GET', data: '' } }],
    [307, { success: true, structured_content: { method: 'POST', json: { n: 1 } } }],
    [308, { success: true, structured_content: { method: 'POST', json: { n: 1 } } }],
  ])('[HTTP-2] can be a %i after POST, which is followed if the meaning is clear', async ([status_code, expected]) => {
    const { json } = await server.alice.call('styles:redirect', { url: '/anything', status_code, body: { n: 1 } });
    expect(json).toMatchObject(expected);
  });

  test.for([
    [404, 404],
    [429, 429],
    [503, 503],
  ])('[HTTP-2] with the status %i is the error of the call', async ([codes, status]) => {
    const { json } = await call('GET', '/status/{codes}', { codes });
    expect(json).toMatchObject({ success: false, error: { upstream_status: status } });
  });

  test('[HTTP-2] can be lines that come one after the other, which are read to the end', async () => {
    const { json } = await call('GET', '/stream/{n}', { n: 3 });
    expect(json.text.trim().split('\n')).toHaveLength(3);
  });
});

describe.skipIf(!httpbin.available)('[OAS-4] httpbin accepts the credential', () => {
  test.for([
    [
      'basic',
      { type: 'basic', username: 'ann', password: 'secret-pass' },
      '/basic-auth/{user}/{passwd}',
      { user: 'ann', passwd: 'secret-pass' },
    ],
    ['bearer', { type: 'bearer', token: 'secret-token' }, '/bearer', {}],
  ] as const)('%s', async ([name, credential, path, args]) => {
    await registerJudged(server.admin, { name, path: corpusPath('httpbin-2.0.json', ''), serverUrl: judge.origin, credential });
    const tool = nameOf('GET', path).replace('httpbin:', `${name}:`);
    expect((await server.alice.call(tool, args)).json).toMatchObject({ success: true, structured_content: { authenticated: true } });
    expect((await call('GET', path, args)).json).toMatchObject({ success: false, error: { upstream_status: 401 } });
  });
});
