import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient, Reply } from '../fixtures/api-client.ts';
import { startTestServer, type TestServer } from '../running-server.ts';

const callPath = '/api/bff/tools/call';
let server: TestServer;
let alice: ApiClient;
let admin: ApiClient;

beforeAll(async () => {
  server = await startTestServer();
  [alice, admin] = await Promise.all([server.as('alice'), server.as('admin')]);
});
afterAll(() => server[Symbol.asyncDispose]());

async function isServing(): Promise<boolean> {
  const { status, json } = await alice.call('builtin:calculator', { expression: '6 * 7' });
  return status === 200 && json.result.result === 42;
}

/** The outcome of a request, and whether the server still works afterwards. */
async function outcome({ status, headers, json }: Reply) {
  return { status, contentType: headers.get('content-type'), json, serving: await isServing() };
}

function refusal(status: number, code: string, field?: string) {
  const message: unknown = expect.stringMatching(/^.{5,600}$/s);
  const json = { code, message, ...(field === undefined ? {} : { field }) };
  return { status, contentType: 'application/json; charset=utf-8', json, serving: true };
}

const good = { name: 'builtin:uuid' };

describe('a body', () => {
  test.for<[title: string, body: string, field?: string]>([
    ['cut short', '{"name":'],
    ['not JSON at all', 'name=builtin:uuid'],
    ['with something behind it', '{"name":"builtin:uuid"} {}'],
    ['a number', '5'],
    ['null', 'null'],
    ['a list', '[]'],
    ['a text', '"builtin:uuid"'],
    ['nothing', ''],
    ['white space', ' \n'],
    ['without the tool', '{}', 'name'],
    ['with two tools', '{"name":"builtin:uuid","tool_id":"x"}', 'name'],
    ['a name that is a number', '{"name":5}', 'name'],
    ['a name that is empty', '{"name":""}', 'name'],
    ['a name that is too long', JSON.stringify({ name: 'x'.repeat(513) }), 'name'],
    ['arguments that are a list', '{"name":"builtin:uuid","arguments":[]}', 'arguments'],
    ['a timeout that is a text', '{"name":"builtin:uuid","timeout_ms":"1"}', 'timeout_ms'],
    ['a timeout of nothing', '{"name":"builtin:uuid","timeout_ms":0}', 'timeout_ms'],
    ['a timeout beyond all bounds', '{"name":"builtin:uuid","timeout_ms":1e400}', 'timeout_ms'],
    ['an unknown field', '{"name":"builtin:uuid","tool":"x"}', 'tool'],
    ['an unknown argument', '{"name":"builtin:uuid","arguments":{"how_many":2}}', 'arguments.how_many'],
    ['an argument of another type', '{"name":"builtin:uuid","arguments":{"count":"2"}}', 'arguments.count'],
    ['an argument out of range', '{"name":"builtin:uuid","arguments":{"count":101}}', 'arguments.count'],
    ['a missing argument', '{"name":"builtin:hash"}', 'arguments.text'],
    ['a prototype', '{"name":"builtin:uuid","__proto__":{"name":"x"}}', '__proto__'],
    ['a prototype in the arguments', '{"name":"builtin:uuid","arguments":{"__proto__":{"count":1}}}', '__proto__'],
    ['a prototype spelled with escapes', '{"name":"builtin:uuid","arguments":{"\\u005f\\u005fproto__":{}}}', '__proto__'],
    ['a constructor in the arguments', '{"name":"builtin:uuid","arguments":{"constructor":{"prototype":{}}}}', 'arguments.constructor'],
    ['lists 100,000 deep', `{"name":"builtin:uuid","arguments":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`],
    ['objects 100,000 deep', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['open brackets without end', '['.repeat(1_000_000)],
  ])('is refused with a clear error: %s', async ([, body, field]) => {
    expect(await outcome(await alice.post(callPath, body))).toEqual(refusal(400, 'VALIDATION_ERROR', field));
    expect(({} as Record<string, unknown>)['name']).toBeUndefined();
  });

  test('[EXEC-6] is refused with the place where it stops being JSON', async () => {
    const { json } = await alice.post(callPath, '{\n  "name": "builtin:uuid",\n}');
    expect(json.message).toBe('The body is not valid JSON: line 3, column 1: a name in double quotes is expected, not "}"');
  });

  test('may have any number of brackets in a text', async () => {
    const { status } = await alice.call('builtin:hash', { text: `"${'[{'.repeat(200)}\\` });
    expect(status).toBe(200);
  });

  test('may begin with a byte order mark', async () => {
    expect((await alice.post(callPath, `\uFEFF${JSON.stringify(good)}`)).status).toBe(200);
  });

  test('is refused when it is missing', async () => {
    expect(await outcome(await alice.request('POST', callPath))).toEqual(refusal(400, 'VALIDATION_ERROR'));
  });

  test.for(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'multipart/form-data', '///', 'application/vnd.x+json'])(
    'is refused with the content type %s',
    async (contentType) => {
      const reply = await alice.post(callPath, JSON.stringify(good), { 'content-type': contentType });
      expect(await outcome(reply)).toEqual(refusal(400, 'VALIDATION_ERROR', 'Content-Type'));
    },
  );

  test('is refused when it is a batch of none, of too many, or with one bad call', async () => {
    const batch = (calls: unknown) => alice.post(`${callPath}/batch`, { calls });
    expect(await outcome(await batch([]))).toEqual(refusal(400, 'VALIDATION_ERROR', 'calls'));
    expect(await outcome(await batch(Array.from({ length: 51 }, () => good)))).toEqual(refusal(400, 'VALIDATION_ERROR', 'calls'));
    expect(await outcome(await batch([good, { name: 7 }]))).toEqual(refusal(400, 'VALIDATION_ERROR', 'calls.1.name'));
  });

  test('is refused with the field at fault for administrators too', async () => {
    const matcher = { path: 'sub', operator: 'equals', value: 'x' };
    const cases: [body: object, field: string][] = [
      [{}, 'name'],
      [{ name: '   ' }, 'name'],
      [{ name: 'x', matchers: [{ ...matcher, operator: 'is' }] }, 'matchers.0.operator'],
      [{ name: 'x', matchers: [{ ...matcher, value: null }] }, 'matchers.0.value'],
      [{ name: 'x', matchers: [{ ...matcher, extra: 1 }] }, 'matchers.0.extra'],
      [{ name: 'x', id: 'Not An Id' }, 'id'],
      [{ name: 'x', created_at: 1 }, 'created_at'],
    ];
    for (const [body, field] of cases)
      expect(await outcome(await admin.post('/api/policies', body))).toEqual(refusal(400, 'VALIDATION_ERROR', field));
  });
});

describe('an address', () => {
  test.for(['/%', '/api/bff/calls/%FF', '/api/bff/calls/%E0%A4%A', `/api/bff/calls/${'a'.repeat(5000)}`])(
    'is refused with the path %s',
    async (path) => {
      expect(await outcome(await alice.get(path))).toEqual(refusal(400, 'VALIDATION_ERROR'));
    },
  );

  test.for<[query: string, field: string]>([
    ['colour=red', 'colour'],
    ['q=a&q=b', 'q'],
    ['__proto__=x', '__proto__'],
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=many', 'limit'],
    ['limit=', 'limit'],
    ['limit=1.5', 'limit'],
    ['format=xml', 'format'],
    ['cursor=AAAA', 'cursor'],
    ['cursor=', 'cursor'],
    [`cursor=${Buffer.from('"builtin:a"').toString('base64url')}&q=time`, 'cursor'],
    [`cursor=${Buffer.from('-1').toString('base64url')}&q=time`, 'cursor'],
    [`cursor=${Buffer.from('1e400').toString('base64url')}&q=time`, 'cursor'],
    [`cursor=${Buffer.from('5').toString('base64url')}`, 'cursor'],
    [`q=${'x'.repeat(1001)}`, 'q'],
  ])('[BFF-1] is refused with the query ?%s', async ([query, field]) => {
    expect(await outcome(await alice.get(`/api/bff/tools?${query}`))).toEqual(refusal(400, 'VALIDATION_ERROR', field));
  });

  test('is refused with a parameter that the route does not read', async () => {
    expect(await outcome(await admin.get('/api/groups?dry_run=true'))).toEqual(refusal(400, 'VALIDATION_ERROR', 'dry_run'));
    const { status } = await admin.delete('/api/groups/builtin-tools?dry_run=true');
    expect(status).toBe(400);
    expect((await admin.get('/api/groups/builtin-tools')).status).toBe(200);
  });

  test('may have bytes in its query that are not UTF-8, which find nothing', async () => {
    expect((await alice.get('/api/bff/tools?q=%FF%E0%A4')).status).toBe(200);
    expect(await isServing()).toBe(true);
  });

  test.for(['%00', '%F0%9F%94%A7', '..%2F..%2Fetc%2Fpasswd', 'constructor', '__proto__', "' or 1=1 --"])(
    'is not found with the id %s',
    async (id) => {
      for (const kind of ['groups', 'policies', 'sources', 'calls', 'tools']) {
        expect(await outcome(await admin.get(`/api/${kind}/${id}`))).toEqual(refusal(404, 'NOT_FOUND'));
      }
      expect(await outcome(await alice.get(`/api/bff/calls/${id}`))).toEqual(refusal(404, 'NOT_FOUND'));
    },
  );

  test('is refused with a method that does not exist', async () => {
    for (const method of ['PUT', 'PATCH', 'OPTIONS', 'PURGE']) {
      expect(await outcome(await alice.request(method, callPath))).toEqual(refusal(404, 'NOT_FOUND'));
    }
  });
});

test('an Idempotency-Key that is empty, too long or has spaces is refused', async () => {
  for (const key of ['', 'a b', 'x'.repeat(256)]) {
    const reply = await alice.call('builtin:uuid', {}, {}, { 'idempotency-key': key });
    expect(await outcome(reply)).toEqual(refusal(400, 'VALIDATION_ERROR', 'Idempotency-Key'));
  }
});

test('HEAD is answered like GET, without a body, even where GET would be an endless stream', async () => {
  const listed = await alice.request('HEAD', '/api/bff/tools');
  const followed = await alice.request('HEAD', '/api/bff/sse');
  expect([listed.status, listed.text, followed.status, followed.text]).toEqual([200, '', 200, '']);
  expect((await server.client().request('HEAD', '/api/groups')).status).toBe(401);
  expect((await alice.request('HEAD', '/api/groups')).status).toBe(403);
  expect(await isServing()).toBe(true);
});
