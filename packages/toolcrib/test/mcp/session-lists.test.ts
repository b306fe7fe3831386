import { expect, test } from 'vitest';
import { startHandmadeServer, type Asked } from '../fixtures/mcp/handmade-server.ts';
import { callOptions, everything, failureOf, listNames, openHttp, openProgram } from '../fixtures/mcp/sessions.ts';

const object = { type: 'object' };
const listing = (tools: unknown[]) => ({ 'tools/list': ({ result }: Asked) => result({ tools }) });

test('[MCP-7] a bad tool is left out and reported, and the others stay', async () => {
  await using server = await startHandmadeServer(
    listing([
      { name: 'good', description: 'd'.repeat(30_000), inputSchema: object, outputSchema: 'nonsense', annotations: [], title: 7 },
      { name: 'good', description: 'a second of the name', inputSchema: object },
      { name: 'no-schema' },
      { name: 'null-schema', inputSchema: null },
      { name: 'true-schema', inputSchema: true },
      { name: 'list-schema', inputSchema: [] },
      { name: 'text-schema', inputSchema: { type: 'string' } },
      { name: 'only-as-task', inputSchema: object, execution: { taskSupport: 'required' } },
      { name: 17, inputSchema: object },
      { name: '', inputSchema: object },
      { name: 'x'.repeat(1000), inputSchema: object },
      { name: 'line\nbreak', inputSchema: object },
      { name: '__proto__', inputSchema: object },
      { name: 'untyped', inputSchema: {} },
      null,
      'text',
    ]),
  );
  const skipped: string[] = [];
  await using opened = await openHttp(server.url, { onSkipped: (left) => skipped.push(...left.map(({ name }) => name)) });
  const tools = await opened.session.listTools({ signal: new AbortController().signal, resources: false });
  expect(tools.map(({ definition }) => definition.name)).toEqual(['good', '__proto__', 'untyped']);
  expect(tools[0]?.definition.description).toHaveLength(20_000);
  expect(Object.keys(tools[0]?.definition ?? {})).toEqual(['name', 'description', 'input_schema']);
  expect(skipped).toEqual([
    'good',
    'no-schema',
    'null-schema',
    'true-schema',
    'list-schema',
    'text-schema',
    'only-as-task',
    '17',
    '',
    'x'.repeat(100),
    'line\nbreak',
    '',
    '',
  ]);
});

test('[MCP-7] a tool that is nested too deeply to be written again is left out, by name or by schema', async () => {
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
  const tools = `[{"name":"deep","inputSchema":${deep}}, {"name":${deep}}, {"name":"good","inputSchema":{}}]`;
  await using server = await startHandmadeServer({
    'tools/list': ({ message, json }) => json(`{"jsonrpc":"2.0","id":${message.id},"result":{"tools":${tools}}}`),
  });
  await using opened = await openHttp(server.url);
  expect(await listNames(opened.session)).toEqual(['good']);
});

test.each([
  ['pages without end', (page: number) => String(page), { maxPages: 20 }, 20],
  ['pages that go in a circle', (page: number) => String(page % 3), {}, 4],
  ['more tools than anybody has', (page: number) => String(page), { maxEntries: 7 }, 7],
  ['more bytes than are allowed', (page: number) => String(page), { maxBytes: 500 }, 7],
])('[MCP-7] a list of %s is cut off and reported', async (_what, cursorAfter, limits, count) => {
  let page = 0;
  await using server = await startHandmadeServer({
    'tools/list'({ result }) {
      page++;
      result({ tools: [{ name: `tool-${page}`, description: 'd', inputSchema: object }], nextCursor: cursorAfter(page) });
    },
  });
  const skipped: string[] = [];
  const listLimits = { maxPages: 1000, maxEntries: 10_000, maxBytes: 1_000_000, ...limits };
  await using opened = await openHttp(server.url, { listLimits, onSkipped: (left) => skipped.push(...left.map(({ reason }) => reason)) });
  expect(await listNames(opened.session)).toHaveLength(count);
  expect(skipped).toEqual([expect.stringContaining('was cut off')]);
});

test('[ERR-9] an answer that is not a list fails the listing', async () => {
  await using server = await startHandmadeServer({ 'tools/list': ({ result }) => result({ tools: 'many' }) });
  await using opened = await openHttp(server.url);
  expect(await failureOf(listNames(opened.session))).toMatchObject({ code: 'SERVICE_UNAVAILABLE', name: 'ProtocolError' });
});

test('a server without tools is not asked for them', async () => {
  await using server = await startHandmadeServer({}, {});
  await using opened = await openHttp(server.url);
  expect(await listNames(opened.session, true)).toEqual([]);
  expect(server.requests.map(({ method }) => method)).not.toContain('tools/list');
});

const resources = {
  'tools/list': ({ result }: Asked) => result({ tools: [{ name: 'resource_clash', inputSchema: object }] }),
  'tools/call': ({ result }: Asked) => result({ content: [{ type: 'text', text: 'the tool' }] }),
  'resources/list': ({ result }: Asked) =>
    result({
      resources: [
        { name: 'readme', uri: 'file:///readme.md', description: 'The beginning' },
        { name: 'logo', uri: 'file:///logo.png' },
        { name: 'clash', uri: 'file:///clash' },
        { name: 'nowhere' },
        { uri: 'file:///nameless' },
      ],
    }),
  'resources/templates/list': ({ result }: Asked) =>
    result({
      resourceTemplates: [
        { name: 'page', uriTemplate: 'wiki://{space}/{page}' },
        { name: 'query', uriTemplate: 'wiki://search{?q}' },
        { name: 'broken', uriTemplate: 'wiki://{open' },
      ],
    }),
  'resources/read': ({ message, result }: Asked) => {
    const uri = message.params?.['uri'];
    const image = { uri, mimeType: 'image/png', blob: 'AAAA' };
    const contents =
      uri === 'file:///logo.png' ? [image, { uri, mimeType: 'application/zip', blob: 'BBBB' }] : [{ uri, text: `read ${String(uri)}` }];
    return result({ contents });
  },
};

test('[MCP-8] resources are tools, and templates have their variables as input', async () => {
  await using server = await startHandmadeServer(resources, { tools: {}, resources: {} });
  const skipped: string[] = [];
  await using opened = await openHttp(server.url, { onSkipped: (left) => skipped.push(...left.map(({ name }) => name)) });
  const { session } = opened;
  expect(await listNames(session)).toEqual(['resource_clash']);
  const tools = await session.listTools({ signal: new AbortController().signal, resources: true });
  expect(tools.map(({ definition }) => definition)).toEqual([
    { name: 'resource_clash', description: '', input_schema: object },
    {
      name: 'resource_readme',
      description: 'The beginning',
      input_schema: { type: 'object', properties: {}, additionalProperties: false },
      annotations: { readOnlyHint: true },
    },
    expect.objectContaining({ name: 'resource_logo', description: 'Reads file:///logo.png' }),
    expect.objectContaining({
      name: 'resource_page',
      input_schema: {
        type: 'object',
        properties: { space: { type: 'string' }, page: { type: 'string' } },
        required: ['space', 'page'],
        additionalProperties: false,
      },
    }),
  ]);
  expect(skipped).toEqual(
    ['resource_clash', 'resource_nowhere', 'resource_', 'resource_query', 'resource_broken'].toSorted(byOrder(skipped)),
  );
});

/** The order of the report says nothing. */
function byOrder(order: string[]) {
  return (a: string, b: string) => order.indexOf(a) - order.indexOf(b);
}

test('[MCP-8] a resource is read through its tool, even in a session that has listed nothing', async () => {
  await using server = await startHandmadeServer(resources, { tools: {}, resources: {} });
  await using opened = await openHttp(server.url);
  const call = (name: string, args = {}) => opened.session.callTool(name, args, callOptions());
  expect(await call('resource_page', { space: 'a b', page: 'c/d' })).toEqual({
    content: [{ type: 'text', text: 'read wiki://a%20b/c%2Fd' }],
  });
  expect(await call('resource_logo')).toEqual({
    content: [
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///logo.png', mimeType: 'application/zip', blob: 'BBBB' } },
    ],
  });
  expect(await call('resource_clash')).toEqual({ content: [{ type: 'text', text: 'the tool' }] });
});

test('[MCP-8] the resources of the reference server can be listed and read', async () => {
  await using opened = await openProgram([everything, 'stdio']);
  const names = await listNames(opened.session, true);
  const resource = names.find((name) => name.startsWith('resource_'));
  expect(resource).toBeDefined();
  const { content } = await opened.session.callTool(resource ?? '', {}, callOptions());
  expect(content[0]?.type).toBe('text');
});
