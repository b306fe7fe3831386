import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { administeredToolListSchema } from '../../src/api.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startTestServer, type TestServer } from '../running-server.ts';

let server: TestServer;
let alice: ApiClient;
let bob: ApiClient;
let admin: ApiClient;

beforeAll(async () => {
  server = await startTestServer();
  [alice, bob, admin] = await Promise.all([server.as('alice'), server.as('bob'), server.as('admin')]);
});
afterAll(() => server[Symbol.asyncDispose]());

describe('[BFF-6] [INV-5] an administrator', () => {
  test('sees every tool in every state, page by page', async () => {
    await admin.patch('/api/tools/builtin:uuid', { hidden: true });
    const { tools, total } = administeredToolListSchema.parse((await admin.get('/api/tools?limit=1000')).json);
    expect(total).toBe(tools.length);
    expect(tools.find(({ name }) => name === 'builtin:uuid')).toMatchObject({ state: 'hidden', groups: ['builtin-tools'] });
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { json } = await admin.get(`/api/tools?limit=4${cursor === '' ? '' : `&cursor=${cursor}`}`);
      paged.push(...json.tools.map(({ name }: { name: string }) => name));
      cursor = json.next_cursor as string | null;
    }
    expect(paged).toEqual(tools.map(({ name }) => name));
    const hidden = (await admin.get('/api/tools?state=hidden&source=builtin')).json.tools;
    expect(hidden.map(({ name }: { name: string }) => name)).toEqual(['builtin:uuid']);
    await admin.patch('/api/tools/builtin:uuid', { hidden: false });
  });

  test('hides a tool, which then disappears from every list and cannot be called', async () => {
    const { json } = await admin.patch('/api/tools/builtin:hash', { hidden: true });
    expect(json.state).toBe('hidden');
    expect(await alice.listedNames()).not.toContain('builtin:hash');
    expect((await alice.call('builtin:hash', { text: 'x' })).status).toBe(404);
    expect((await alice.post('/api/bff/tools/call', { tool_id: json.tool_id, arguments: { text: 'x' } })).status).toBe(404);
    await admin.patch('/api/tools/builtin:hash', { hidden: false });
    expect((await alice.call('builtin:hash', { text: 'x' })).status).toBe(200);
  });

  test('rewrites the description of a tool, which everybody sees and search finds', async () => {
    await admin.patch('/api/tools/builtin.text_diff', { description: 'Finds what a colleague rewrote overnight.' });
    expect((await alice.get('/api/bff/tools?q=overnight')).json.tools).toMatchObject([
      { name: 'builtin:text_diff', description: 'Finds what a colleague rewrote overnight.' },
    ]);
  });

  test('labels a tool, and groups select by the label', async () => {
    await admin.post('/api/groups', { id: 'safe', name: 'Safe', selectors: [{ labels: { risk: 'low' } }] });
    expect(await alice.listedNames('?group=safe')).toEqual([]);
    await admin.patch('/api/tools/builtin:calculator', { labels: { risk: 'low', team: 'core' } });
    expect(await alice.listedNames('?group=safe')).toEqual(['builtin:calculator']);
    expect((await admin.get('/api/tools/builtin:calculator')).json.groups).toEqual(['builtin-tools', 'safe']);
    await admin.patch('/api/tools/builtin:calculator', { labels: { risk: 'high' } });
    expect(await alice.listedNames('?group=safe')).toEqual([]);
  });

  test('changes only the given fields', async () => {
    await admin.patch('/api/tools/builtin:json_query', { description: 'Other words', labels: { a: 'b' }, limits: { timeout_ms: 5000 } });
    const { json } = await admin.patch('/api/tools/builtin:json_query', { hidden: true });
    expect(json).toMatchObject({ description: 'Other words', labels: { a: 'b' }, limits: { timeout_ms: 5000 }, state: 'hidden' });
    expect((await admin.patch('/api/tools/builtin:json_query', {})).json).toEqual(json);
  });

  test('removes an override with null, and a label alone does not change what callers see', async () => {
    const before = await alice.get('/api/bff/tools');
    await admin.patch('/api/tools/builtin:uuid', { labels: { risk: 'low' }, limits: { concurrency: 5 } });
    expect((await alice.get('/api/bff/tools')).headers.get('etag')).toBe(before.headers.get('etag'));
    await admin.patch('/api/tools/builtin:uuid', { description: 'Other words' });
    expect((await alice.get('/api/bff/tools')).headers.get('etag')).not.toBe(before.headers.get('etag'));
    const { json } = await admin.patch('/api/tools/builtin:uuid', { description: null, labels: null });
    expect(json).toMatchObject({ labels: {}, limits: { concurrency: 5 } });
    expect((await alice.get('/api/bff/tools')).headers.get('etag')).toBe(before.headers.get('etag'));
  });

  test('renames a tool, which is then listed, found and called by that name only, and keeps its id', async () => {
    const before = (await admin.get('/api/tools/builtin:calculator')).json;
    const { json } = await admin.patch('/api/tools/builtin:calculator', { rename: 'sums' });
    expect(json).toMatchObject({
      tool_id: before.tool_id,
      name: 'builtin:sums',
      model_name: 'builtin_sums',
      upstream_name: 'calculator',
      definition_hash: before.definition_hash,
    });
    expect(await alice.call('builtin.sums', { expression: '1 + 1' })).toMatchObject({ status: 200, json: { tool: 'builtin:sums' } });
    expect((await alice.call('builtin:calculator', { expression: '1 + 1' })).status).toBe(404);
    expect(await alice.listedNames('?q=sums')).toContain('builtin:sums');
    // A name that is no longer shown names nobody else, and an empty one takes it away again.
    expect((await admin.patch(`/api/tools/${before.tool_id}`, { rename: '' })).json.name).toBe('builtin:calculator');
    expect((await alice.call('builtin:calculator', { expression: '1 + 1' })).status).toBe(200);
  });

  test('[NAME-4] does not change who may use a tool by renaming it: selectors match the original name', async () => {
    await admin.post('/api/groups', { id: 'by-name', name: 'By name', selectors: [{ name: 'hash' }], include: ['builtin:uuid'] });
    await admin.patch('/api/tools/builtin:hash', { rename: 'digest' });
    await admin.patch('/api/tools/builtin:uuid', { rename: 'hash' });
    expect(await alice.listedNames('?group=by-name')).toEqual(['builtin:digest', 'builtin:hash']);
    // A name means the tool that is shown under that name.
    await admin.put('/api/groups/by-name', { name: 'By name', include: ['builtin:hash'] });
    const { tool_id } = (await admin.get('/api/tools/builtin:hash')).json;
    expect((await admin.get('/api/groups/by-name')).json.include).toEqual([tool_id]);
    await admin.patch('/api/tools/builtin:hash', { rename: null });
    expect(await alice.listedNames('?group=by-name')).toEqual(['builtin:uuid']);
    await admin.patch('/api/tools/builtin:digest', { rename: null });
  });

  test.each(['wait', 'WAIT', 'Wait'])('cannot give a tool the name of another: %s', async (rename) => {
    const reply = await admin.patch('/api/tools/builtin:uuid', { rename });
    expect(reply).toMatchObject({ status: 409, json: { code: 'CONFLICT', field: 'rename' } });
  });

  test('cannot remove a name whose original is now taken by another tool', async () => {
    await admin.patch('/api/tools/builtin:uuid', { rename: 'identifier' });
    await admin.patch('/api/tools/builtin:hash', { rename: 'uuid' });
    expect((await admin.patch('/api/tools/builtin:identifier', { rename: null })).json).toMatchObject({
      code: 'CONFLICT',
      field: 'rename',
    });
    await admin.patch('/api/tools/builtin:uuid', { rename: null });
    expect((await admin.patch('/api/tools/builtin:identifier', { rename: null })).json.name).toBe('builtin:uuid');
  });

  test.each(['a b', 'a:b', 'é', 'a/b', 'x'.repeat(129), 'a\u200bb'])('cannot give a tool the name %j', async (rename) => {
    expect((await admin.patch('/api/tools/builtin:uuid', { rename })).json).toMatchObject({ code: 'VALIDATION_ERROR', field: 'rename' });
  });

  test('gets an error for an unknown tool', async () => {
    expect((await admin.patch('/api/tools/builtin:nothing', { hidden: true })).json).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('[EXEC-7] limits', () => {
  test('of a tool apply to everybody together, and say when to come back', async () => {
    await admin.patch('/api/tools/builtin:current_time', { limits: { rate_per_second: 0.01, burst: 3 } });
    const statuses = [];
    for (const user of [alice, bob, alice]) statuses.push((await user.call('builtin:current_time')).status);
    expect(statuses).toEqual([200, 200, 200]);
    const refused = await bob.call('builtin:current_time');
    expect(refused.json).toEqual({ code: 'RATE_LIMITED', message: expect.stringContaining('0.01') });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(100);
    const record = (await admin.get('/api/calls?tool=builtin:current_time&limit=1')).json.calls[0];
    expect(record).toMatchObject({ status: 'failed', error_code: 'RATE_LIMITED' });
    // Another tool is not concerned, and without the limit this one works again.
    expect((await bob.call('builtin:uuid')).status).toBe(200);
    await admin.patch('/api/tools/builtin:current_time', { limits: {} });
    expect((await bob.call('builtin:current_time')).status).toBe(200);
  });

  test('of concurrency are released however a call ends', async () => {
    await admin.patch('/api/tools/builtin:wait', { limits: { concurrency: 2 } });
    const endings = [{ timeout_ms: 20 }, { async: true }, {}];
    for (const more of endings) {
      const replies = await Promise.all([alice, bob].map((user) => user.call('builtin:wait', { seconds: more.async ? 300 : 0.05 }, more)));
      if (!more.async) continue;
      expect((await alice.call('builtin:wait', { seconds: 0 })).status).toBe(429);
      await Promise.all([alice.delete(replies[0]?.json.location), bob.delete(replies[1]?.json.location)]);
    }
    for (let round = 0; round < 3; round++) expect((await alice.call('builtin:wait', { seconds: 'x' })).status).toBe(400);
    const both = await Promise.all([alice, bob].map((user) => user.call('builtin:wait', { seconds: 0.05 })));
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    await admin.patch('/api/tools/builtin:wait', { limits: {} });
  });

  test('let a caller ask for less time than the administrator allows, never for more', async () => {
    await admin.patch('/api/tools/builtin:wait', { limits: { timeout_ms: 50 } });
    const { json } = await alice.call('builtin:wait', { seconds: 300 }, { timeout_ms: 600_000 });
    expect(json).toMatchObject({ status: 'timed_out', error: { message: expect.stringContaining('50 ms') } });
    await admin.patch('/api/tools/builtin:wait', { limits: {} });
  });

  test('of a principal apply to that principal only', async () => {
    await using limited = await startTestServer({ principalLimits: { rate_per_second: 0.01, burst: 2, concurrency: 1 } });
    const [one, other] = await Promise.all([limited.as('alice'), limited.as('bob')]);
    expect([(await one.call('builtin:uuid')).status, (await one.call('builtin:uuid')).status]).toEqual([200, 200]);
    const refused = await one.call('builtin:uuid');
    expect(refused).toMatchObject({ status: 429, json: { code: 'RATE_LIMITED', message: expect.stringMatching(/^You /) } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const batch = await other.post('/api/bff/tools/call/batch', {
      calls: [{ name: 'builtin:wait', arguments: { seconds: 0.05 } }, { name: 'builtin:uuid' }],
    });
    expect(batch.json.answers.map(({ http_status }: { http_status: number }) => http_status)).toEqual([200, 429]);
    // Looking at the list is not calling.
    expect((await one.get('/api/bff/tools')).status).toBe(200);
  });
});
