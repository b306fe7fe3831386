import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compactToolListSchema, listedToolSchema, toolListSchema } from '../../src/api.ts';
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

const setHidden = (name: string, hidden: boolean) => admin.patch(`/api/tools/${name}`, { hidden });

/** Every name on every page, in the order they came; `between` runs after each page. */
async function namesOfAllPages(query: string, between: (page: number) => Promise<unknown> = async () => {}): Promise<string[]> {
  const names: string[] = [];
  let cursor: string | null = null;
  for (let page = 1; page === 1 || cursor !== null; page++) {
    const { json } = await alice.get(`/api/bff/tools?${query}${cursor === null ? '' : `&cursor=${cursor}`}`);
    names.push(...json.tools.map((tool: { name: string }) => tool.name));
    cursor = json.next_cursor;
    await between(page);
  }
  return names;
}

test('[BFF-1] the list shows every field of every tool, in the order of their names', async () => {
  const { status, headers, json } = await alice.get('/api/bff/tools');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('cache-control')).toBe('private, no-cache');
  const { tools, total, next_cursor } = toolListSchema.parse(json);
  expect([total, next_cursor]).toEqual([tools.length, null]);
  const names = tools.map(({ name }) => name);
  expect(names).toEqual([...names].sort());
  expect(names).toEqual(expect.arrayContaining(['builtin:calculator', 'builtin:search_tools', 'builtin:wait']));
  const specified =
    'tool_id name model_name description input_schema output_schema annotations source_id source_name tags version execution_mode';
  for (const tool of tools) expect(Object.keys(tool)).toEqual(expect.arrayContaining(specified.split(' ')));
  expect(tools[0]).toMatchObject({
    name: 'builtin:calculator',
    model_name: 'builtin_calculator',
    input_schema: { type: 'object', required: ['expression'] },
    annotations: { readOnlyHint: true },
    source_name: 'Built-in tools',
    tags: ['math'],
    execution_mode: 'builtin',
  });
});

describe('[BFF-1] an ETag', () => {
  test('tells its sender that nothing has changed', async () => {
    const first = await alice.get('/api/bff/tools');
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w.-]+"$/);
    for (const given of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await alice.get('/api/bff/tools', { 'if-none-match': given });
      expect([given, again.status, again.text, again.headers.get('etag')]).toEqual([given, 304, '', etag]);
    }
    expect((await alice.get('/api/bff/tools', { 'if-none-match': '"other"' })).text).toBe(first.text);
    // Those with the same rights see the same.
    expect((await bob.get('/api/bff/tools')).headers.get('etag')).toBe(etag);
  });

  test('is different for each page, search and format', async () => {
    const queries = ['', '?limit=3', '?q=time', '?q=text', '?group=builtin-tools', '?format=openai', '?format=utcp', '?view=compact'];
    const etags = await Promise.all(queries.map(async (query) => (await alice.get(`/api/bff/tools${query}`)).headers.get('etag')));
    expect(new Set(etags).size).toBe(queries.length);
  });

  test('changes when a tool changes, and comes back with it', async () => {
    const etag = async (query = '') => (await alice.get(`/api/bff/tools${query}`)).headers.get('etag');
    const before = await etag();
    await setHidden('builtin:uuid', true);
    const hidden = await etag();
    await setHidden('builtin:uuid', false);
    expect(hidden).not.toBe(before);
    expect(await etag()).toBe(before);

    const ofGroup = await etag('?group=some');
    await admin.post('/api/groups', { id: 'some', name: 'Some', include: ['builtin:hash'] });
    expect(await etag('?group=some')).not.toBe(ofGroup);
    await admin.delete('/api/groups/some');
  });
});

test('[BFF-1] [INV-4] ?q= orders tools by relevance, and finds only those the caller may use', async () => {
  const [best] = await alice.listedNames('?q=arithmetic%20expression');
  expect(best).toBe('builtin:calculator');
  expect(await alice.listedNames('?q=zebra')).toEqual([]);
  await setHidden('builtin:calculator', true);
  expect(await alice.listedNames('?q=arithmetic%20expression')).not.toContain('builtin:calculator');
  await setHidden('builtin:calculator', false);
});

test('[BFF-1] ?group= narrows to a group, and one that gives the caller nothing looks like one that does not exist', async () => {
  await admin.post('/api/groups', { id: 'time', name: 'Time', selectors: [{ tags: ['time'] }] });
  expect(await alice.listedNames('?group=time')).toEqual(['builtin:current_time', 'builtin:wait']);
  expect(await alice.listedNames('?group=time&q=zone')).toEqual(['builtin:current_time']);
  await admin.post('/api/groups', { id: 'none', name: 'None' });
  const empty = await alice.get('/api/bff/tools?group=none');
  const absent = await alice.get('/api/bff/tools?group=absent');
  expect(empty.json).toEqual({ tools: [], total: 0, next_cursor: null });
  expect(absent.text).toBe(empty.text);
});

describe('[BFF-1] pages', () => {
  test('of any size together hold every tool once', async () => {
    const all = await alice.listedNames();
    for (const limit of [1, 2, 3, all.length - 1, all.length, 1000]) expect(await namesOfAllPages(`limit=${limit}`)).toEqual(all);
    const found = await alice.listedNames('?q=text&limit=1000');
    expect(found.length).toBeGreaterThan(2);
    expect(await namesOfAllPages('limit=1&q=text')).toEqual(found);
    expect(await namesOfAllPages('q=text')).toEqual(found);
    const { json } = await alice.get('/api/bff/tools?limit=2');
    expect(json.total).toBe(all.length);
  });

  test('neither repeat nor skip a tool when others come and go meanwhile', async () => {
    const all = await alice.listedNames();
    await setHidden('builtin:text_diff', true);
    const seen = await namesOfAllPages('limit=2', async (page) => {
      // One that was shown already goes, which moves all that follow; the very one the cursor stands on goes; one ahead comes.
      if (page === 1) await setHidden('builtin:calculator', true);
      if (page === 2) await setHidden('builtin:current_time', true);
      if (page === 3) await setHidden('builtin:text_diff', false);
    });
    expect(seen).toEqual(all);
    await Promise.all(['builtin:calculator', 'builtin:current_time'].map((name) => setHidden(name, false)));
    expect(await alice.listedNames()).toEqual(all);
  });
});

describe('[BFF-1] a search', () => {
  // Every built-in tool has one of these words.
  const everything = 'q=time%20text%20tool%20number%20identifier%20json%20expression%20unit';

  test('has ten tools on a page by default, and says how many there are', async () => {
    const { json } = await alice.get(`/api/bff/tools?${everything}`);
    expect(json.total).toBeGreaterThan(10);
    expect(json.tools).toHaveLength(10);
    expect(json.next_cursor).toEqual(expect.any(String));
    const whole = await alice.get(`/api/bff/tools?${everything}&limit=1000`);
    expect(whole.json.tools).toHaveLength(json.total);
    expect(whole.json.next_cursor).toBeNull();
  });

  test('as a UTCP manual has the requested number, and no pages', async () => {
    expect((await alice.get(`/api/bff/tools?format=utcp&${everything}`)).json.tools).toHaveLength(10);
    expect((await alice.get(`/api/utcp?${everything}&limit=3`)).json.tools).toHaveLength(3);
    expect(await alice.get(`/api/utcp?limit=3`)).toMatchObject({ status: 400, json: { code: 'VALIDATION_ERROR', field: 'limit' } });
  });

  test('finds tools by other words than theirs, and despite a typo', async () => {
    expect((await alice.listedNames('?q=checksum'))[0]).toBe('builtin:hash');
    expect((await alice.listedNames('?q=calcualtor'))[0]).toBe('builtin:calculator');
  });
});

describe('[BFF-1] ?view=compact', () => {
  test('gives names, one line and parameters, and no schemas', async () => {
    const { json, text } = await alice.get('/api/bff/tools?view=compact&q=arithmetic%20expression');
    const { tools } = compactToolListSchema.parse(json);
    expect(tools[0]).toMatchObject({ name: 'builtin:calculator', model_name: 'builtin_calculator', parameters: ['expression'] });
    for (const { description } of tools) expect(description).toMatch(/^\S.{0,160}$/);
    expect(text).not.toContain('schema');
  });

  test('holds every tool of the whole list', async () => {
    const { json } = await alice.get('/api/bff/tools?view=compact');
    expect(compactToolListSchema.parse(json).tools.map(({ name }) => name)).toEqual(await alice.listedNames());
    expect((await alice.get('/api/bff/tools?view=full')).json).toEqual((await alice.get('/api/bff/tools')).json);
  });

  test('is a format of its own', async () => {
    const refused = await alice.get('/api/bff/tools?view=compact&format=openai');
    expect(refused).toMatchObject({
      status: 400,
      json: { code: 'VALIDATION_ERROR', field: 'view', message: expect.stringContaining('leave out format') },
    });
  });
});

describe('[BFF-1] ?format= gives a form that', () => {
  const calculator = async (format: string) => (await alice.get(`/api/bff/tools?format=${format}`)).json;
  const expression = { properties: { expression: { type: 'string' } } };

  test("OpenAI's chat completions accept as `tools`", async () => {
    const { tools } = await calculator('openai');
    for (const tool of tools) {
      expect(Object.keys(tool)).toEqual(['type', 'function']);
      expect(tool.function.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(tool.function.parameters.type).toBe('object');
    }
    const { function: first, type } = tools[0];
    expect({ type, ...first }).toMatchObject({ type: 'function', name: 'builtin_calculator', parameters: expression });
  });

  test("Anthropic's messages accept as `tools`", async () => {
    const { tools } = await calculator('anthropic');
    for (const tool of tools) {
      expect(Object.keys(tool)).toEqual(['name', 'description', 'input_schema']);
      expect(tool.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(tool.input_schema.type).toBe('object');
    }
    expect(tools[0]).toMatchObject({ name: 'builtin_calculator', input_schema: expression });
  });

  test('Gemini accepts as `tools`', async () => {
    const { tools } = await calculator('gemini');
    expect(tools).toHaveLength(1);
    const { functionDeclarations } = tools[0];
    expect(functionDeclarations).toHaveLength((await alice.listedNames()).length);
    for (const { name } of functionDeclarations) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/);
    expect(functionDeclarations[0]).toMatchObject({ name: 'builtin_calculator', parametersJsonSchema: expression });
  });

  test('the Vercel AI SDK accepts as `tools`', async () => {
    const { tools } = await calculator('vercel-ai');
    expect(Object.keys(tools)).toHaveLength((await alice.listedNames()).length);
    expect(tools.builtin_calculator).toMatchObject({ description: expect.any(String), inputSchema: expression });
  });

  test('can be paged like any other', async () => {
    const { json } = await alice.get('/api/bff/tools?format=openai&limit=2');
    expect(json.tools).toHaveLength(2);
    const next = await alice.get(`/api/bff/tools?limit=1&cursor=${json.next_cursor}`);
    expect(listedToolSchema.parse(next.json.tools[0]).name).toBe((await alice.listedNames())[2]);
  });
});
