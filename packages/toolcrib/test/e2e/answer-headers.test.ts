import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { sendRaw } from '../fixtures/raw-connection.ts';

let server: OpenServer;
beforeAll(async () => {
  server = await startOpenServer({ demo: false });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Only the headers are waited for: some answers are streams that do not end. */
async function headersOf(method: string, path: string, init: RequestInit = {}): Promise<Headers> {
  const gone = new AbortController();
  const { headers } = await fetch(`${server.url}${path}`, { method, redirect: 'manual', signal: gone.signal, ...init });
  gone.abort();
  return headers;
}

test('every answer of every route states its content type and forbids caching', async () => {
  const { paths } = (await server.admin.get('/api/openapi.json')).json as { paths: Record<string, Record<string, unknown>> };
  const asked: string[] = [];
  for (const [template, methods] of Object.entries(paths)) {
    for (const method of Object.keys(methods)) {
      // An id that does not exist, so that nothing changes.
      const path = template.replaceAll(/\{\w+\}/g, 'none');
      for (const token of [server.admin.token, undefined]) {
        const headers = {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(method === 'get' ? {} : { 'content-type': 'application/json' }),
        };
        const answer = await headersOf(method.toUpperCase(), path, { headers, ...(method === 'get' ? {} : { body: '{}' }) });
        const named = `${method} ${template}`;
        asked.push(named);
        expect([named, answer.get('x-content-type-options')]).toEqual([named, 'nosniff']);
        const kept =
          ['/api/bff/tools', '/api/utcp'].includes(template) && token !== undefined ? /^private, no-cache$/ : /^(private, )?no-store$/;
        expect([named, answer.get('cache-control')]).toEqual([named, expect.stringMatching(kept)]);
      }
    }
  }
  expect(new Set(asked).size).toBeGreaterThan(50);
});

test('requests that are refused before routing get the same headers', async () => {
  for (const path of ['/nothing', '/api/%', '/dev/users']) {
    const answer = await headersOf('GET', path);
    expect([path, answer.get('x-content-type-options'), answer.get('cache-control')]).toEqual([path, 'nosniff', 'no-store']);
  }
  const answer = await sendRaw(server.url, 'no HTTP at all\r\n\r\n');
  expect(answer).toContain('x-content-type-options: nosniff');
  expect(answer).toContain('cache-control: no-store');
});

test('[BFF-1] an unchanged list is still not sent again', async () => {
  const { headers } = await server.alice.get('/api/bff/tools');
  expect((await server.alice.get('/api/bff/tools', { 'if-none-match': headers.get('etag') ?? '' })).status).toBe(304);
});

test('the page a browser returns to runs no script, fits in no frame, and sends no referrer', async () => {
  const headers = await headersOf('GET', '/api/connections/callback/none?state=x&code=y');
  expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
});
