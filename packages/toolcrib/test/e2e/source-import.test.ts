import { hash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentOf, operation, startDocumentService } from '../fixtures/document-service.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';

let server: OpenServer;
let service: Awaited<ReturnType<typeof startDocumentService>>;

beforeAll(async () => {
  [server, service] = await Promise.all([startOpenServer(), startDocumentService()]);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const imported = async (config: unknown, query = '') => {
  const { status, json } = await server.admin.post(`/api/sources/import${query}`, config);
  expect([status, json.code]).toEqual([200, undefined]);
  return json.entries as {
    entry: string;
    outcome: string;
    notes: string[];
    // Tests look into what they expect; a wrong guess fails the test.
    // oxlint-disable-next-line typescript/no-explicit-any
    source: any;
    error: { code: string; message: string } | null;
  }[];
};
/** The place and outcome of each posted entry. */
const outcomesOf = (entries: Awaited<ReturnType<typeof imported>>) => entries.map(({ entry, outcome }) => `${entry}: ${outcome}`);
const [command = '', ...rest] = fixture('plain');
const runs = { command, args: rest };
const demo = fileURLToPath(new URL('../../src/demo/demo-server.ts', import.meta.url));

const oauth2 = (id: string, secret: string, scope: string) => ({
  auth_type: 'oauth2',
  client_id: id,
  client_secret: secret,
  token_url: 'https://auth.example.com/token',
  scope,
});

/** The call templates of the original documents, as they stand there. */
const original = {
  structure: {
    call_template_type: 'mcp',
    config: {
      mcpServers: {
        filesystem: { command: 'node', args: ['mcp-server.js'], cwd: '/app/mcp', env: { NODE_ENV: 'production', LOG_LEVEL: 'info' } },
      },
    },
    auth: oauth2('${CLIENT_ID}', '${CLIENT_SECRET}', 'read:tools'),
    register_resources_as_tools: false,
  },
  production: {
    name: 'prod_mcp',
    call_template_type: 'mcp',
    config: { mcpServers: { api_server: { transport: 'http', url: 'https://mcp.example.com/api' } } },
    auth: oauth2('${MCP_CLIENT_ID}', '${MCP_CLIENT_SECRET}', 'mcp:access'),
    register_resources_as_tools: false,
  },
  several: {
    config: {
      mcpServers: {
        my_server: {
          command: 'python',
          args: ['-m', 'mcp_server', '--config', 'config.json'],
          cwd: '/app',
          env: { PYTHONPATH: '/app/lib', API_KEY: '${MCP_API_KEY}' },
        },
        database: { command: 'python', args: ['-m', 'db_server'] },
        secure_server: { command: 'secure-mcp-server', env: { MCP_AUTH_TOKEN: '${MCP_SERVER_TOKEN}', MCP_CLIENT_ID: '${MCP_CLIENT_ID}' } },
      },
    },
  },
};

test('[SRC-4] [UTCP-1] the call templates of the original documents are accepted unchanged, one source per server', async () => {
  const entries = await imported([original.structure, original.production, original.several], '?wait=60000');
  expect(outcomesOf(entries)).toEqual([
    '[0].config.mcpServers.filesystem: registered',
    '[1].config.mcpServers.api_server: registered',
    '[2].config.mcpServers.my_server: registered',
    '[2].config.mcpServers.database: registered',
    '[2].config.mcpServers.secure_server: registered',
  ]);
  expect(entries.map(({ source }) => source.namespace)).toEqual(['filesystem', 'api_server', 'my_server', 'database', 'secure_server']);
  expect(entries[0]?.source.definition).toMatchObject({
    command: ['node', 'mcp-server.js'],
    cwd: '/app/mcp',
    credential: { type: 'none' },
  });
  expect(entries[0]?.notes).toEqual([expect.stringContaining('auth is only for servers over HTTP')]);
  expect(entries[1]?.source.definition).toMatchObject({
    server_url: 'https://mcp.example.com/api',
    manual: 'prod_mcp',
    credential: { type: 'client_credentials', client_id: '${MCP_CLIENT_ID}', scope: 'mcp:access' },
  });
  // Both ways to give a variable are named: the secret, and the operator's.
  expect(entries[1]?.source.status).toMatchObject({
    state: 'error',
    message: expect.stringMatching(/toolcrib secrets set MCP_CLIENT_ID.*--allow-env MCP_CLIENT_ID/),
  });
  for (const { source } of entries) await server.admin.delete(`/api/sources/${source.id}`);
});

test('[SRC-4] [UTCP-1] servers of a template run, and their tools can be called by the name of the server', async () => {
  const template = {
    name: 'dev_mcp',
    call_template_type: 'mcp',
    config: { mcpServers: { my_files: { ...runs, env: { NOTE: '$GREETING' } }, pizzeria: { command, args: [demo] } } },
    register_resources_as_tools: true,
  };
  await server.admin.put('/api/secrets/GREETING', { value: 'hello there' });
  const entries = await imported(template, '?wait=60000');
  expect(entries.map(({ source }) => source.status.state)).toEqual(['running', 'running']);
  expect((await server.alice.call('my_files.echo', { text: 'hi' })).json).toMatchObject({ success: true, result: 'hi' });
  expect((await server.alice.call('pizzeria.resource_menu')).json.text).toContain('funghi');
  const { json: answer } = await server.alice.call('my_files:digest', { name: 'NOTE' });
  expect(answer.text).toBe(hash('sha256', 'hello there', 'hex'));
  const { json } = await server.alice.get('/api/bff/tools');
  const tagged = json.tools.filter(({ tags }: { tags: string[] }) => tags.includes('dev_mcp'));
  expect(new Set(tagged.map(({ name }: { name: string }) => name.split(':')[0]))).toEqual(new Set(['my_files', 'pizzeria']));
  // A group may have all tools of a manual.
  await server.admin.post('/api/groups', { id: 'of-manual', name: 'Manual', selectors: [{ tags: ['dev_mcp'] }] });
  expect((await server.alice.listedNames('?group=of-manual')).length).toBe(tagged.length);
});

const template = (more: object) => ({ call_template_type: 'http', ...more });
const key = 'key-of-the-manual-4711';
const manual = () => ({
  utcp_version: '1.0.1',
  manual_version: '3.0.0',
  tools: [
    {
      name: 'shop.ping',
      description: 'Says that it is there',
      inputs: {},
      tool_call_template: template({ url: `${service.origin}/ping` }),
    },
    {
      name: 'get_book',
      description: 'One book',
      inputs: { type: 'object', properties: { id: { type: 'string' }, full: { type: 'boolean' } } },
      outputs: { type: 'object' },
      tags: ['books'],
      tool_call_template: template({
        url: `${service.origin}/books/{id}`,
        auth: { auth_type: 'api_key', api_key: key, var_name: 'X-Key' },
      }),
    },
    {
      name: 'add_book',
      description: 'A new book',
      inputs: { type: 'object', properties: { book: { type: 'object' }, 'X-Note': { type: 'string' } }, required: ['book'] },
      tool_call_template: template({
        url: `${service.origin}/books`,
        http_method: 'POST',
        body_field: 'book',
        header_fields: ['X-Note'],
        headers: { 'X-Client': 'utcp' },
        auth: { auth_type: 'api_key', api_key: key, var_name: 'X-Key' },
      }),
    },
    { name: 'local.echo', description: '', tool_call_template: { call_template_type: 'mcp', config: { mcpServers: { local: runs } } } },
    { name: 'local.add', description: '', tool_call_template: { call_template_type: 'mcp', config: { mcpServers: { local: runs } } } },
    { name: 'list_files', description: '', tool_call_template: { call_template_type: 'cli', commands: [{ command: 'ls' }] } },
  ],
});

test('[SRC-4] [UTCP-1] each entry of a mixed manual has its own outcome: HTTP tools, MCP servers and something else', async () => {
  const entries = await imported(manual(), '?name=shop&wait=60000');
  expect(outcomesOf(entries)).toEqual(['tools[3].config.mcpServers.local: registered', 'tools[0]: registered', 'tools[5]: refused']);
  expect(entries[2]?.error).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining('"cli"') });
  const { source } = entries[1] ?? {};
  expect(source).toMatchObject({
    namespace: 'shop',
    source_type: 'openapi',
    status: { state: 'running', tools: 3 },
    import: { format: 'UTCP 1.0.1' },
  });
  expect(await server.alice.listedNames('?q=book')).toEqual(expect.arrayContaining(['shop:get_book', 'shop:add_book']));
  expect((await server.alice.call('local:echo', { text: 'x' })).json.result).toBe('x');
});

test('[SRC-4] [UTCP-1] tools of a manual are called as their templates say, with the credential they want', async () => {
  service.seen.length = 0;
  const call = async (name: string, args: object) => (await server.alice.call(name, args)).json;
  expect(await call('shop.get_book', { id: 'a b', full: true })).toMatchObject({
    result: { method: 'GET', path: '/books/a%20b?full=true' },
  });
  expect(await call('shop:add_book', { book: { title: 'T' }, 'X-Note': 'n' })).toMatchObject({
    result: { method: 'POST', path: '/books', body: { title: 'T' } },
  });
  expect(await call('shop:ping', {})).toMatchObject({ success: true });
  expect(service.seen.map(({ headers }) => [headers['x-key'], headers['x-note'], headers['x-client']])).toEqual([
    [key, undefined, undefined],
    [key, 'n', 'utcp'],
    [undefined, undefined, undefined],
  ]);
  expect(await call('shop:get_book', {})).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining('id') });
});

test('[ENV-4] [SRC-4] the keys of a manual are never shown', async () => {
  for (const path of [
    '/api/sources',
    '/api/sources/shop',
    '/api/sources/shop/logs',
    '/api/tools?source=shop',
    '/api/events',
    '/api/audit',
  ]) {
    const { text } = await server.admin.get(path);
    expect(text).not.toContain(key);
  }
});

test('[SRC-4] importing again changes nothing; differences are refused, or replaced on request', async () => {
  const again = await imported(manual(), '?name=shop');
  expect(again.map(({ outcome }) => outcome)).toEqual(['unchanged', 'unchanged', 'refused']);
  const mcpServers = { local: { ...runs, env: { LEVEL: '1' } } };
  const [refused] = await imported({ mcpServers });
  expect(refused).toMatchObject({ outcome: 'refused', error: { code: 'CONFLICT', message: expect.stringContaining('--update') } });
  const [updated] = await imported({ mcpServers }, '?update=true&wait=60000');
  expect(updated).toMatchObject({ outcome: 'updated', source: { id: again[0]?.source.id, status: { state: 'running' } } });
  expect((await imported({ mcpServers }))[0]).toMatchObject({ outcome: 'unchanged' });
});

test('[SRC-4] tools of one manual with different keys become separate sources, and no key goes to the wrong one', async () => {
  const keyed = (name: string, value: string) => ({
    name,
    tool_call_template: template({ url: `${service.origin}/${name}`, auth: { auth_type: 'api_key', api_key: value, var_name: 'X-Key' } }),
  });
  const headed = {
    name: 'headed',
    tool_call_template: template({ url: `${service.origin}/headed`, headers: { Authorization: 'Bearer abc-def' } }),
  };
  const entries = await imported(
    { utcp_version: '1', tools: [keyed('one', 'key-one'), keyed('two', 'key-two'), headed] },
    '?name=keys&wait=60000',
  );
  expect(entries.map(({ source }) => source.namespace)).toEqual(['keys', 'keys-2', 'keys-3']);
  service.seen.length = 0;
  for (const name of ['keys:one', 'keys-2:two', 'keys-3:headed']) expect((await server.alice.call(name)).json.success).toBe(true);
  expect(service.seen.map(({ headers }) => [headers['x-key'], headers.authorization])).toEqual([
    ['key-one', undefined],
    ['key-two', undefined],
    [undefined, 'Bearer abc-def'],
  ]);
});

test('[SRC-4] a call template that names an OpenAPI document or a manual by its address becomes a source that follows it', async () => {
  service.describe(documentOf({ '/books': { get: operation('listBooks') } }));
  const [entry] = await imported({ name: 'by_address', call_template_type: 'http', url: service.url }, '?wait=60000');
  expect(entry?.source).toMatchObject({
    namespace: 'by_address',
    definition: { manual: 'by_address' },
    status: { state: 'running', tools: 1 },
  });
  service.describe({ ...manual(), tools: manual().tools.slice(0, 4) });
  const { json } = await server.admin.post('/api/sources/by_address/refresh', {});
  expect(json).toMatchObject({
    status: { tools: 3 },
    import: { skipped: [{ operation: 'local.echo', reason: expect.stringContaining('toolcrib import') }] },
  });
});

test('[UTCP-1] a fetched document cannot have our secrets sent anywhere', async () => {
  await server.admin.put('/api/secrets/COMPANY_TOKEN', { value: 'nobody-elses-business' });
  const auth = { auth_type: 'api_key', api_key: '${COMPANY_TOKEN}', var_name: 'X-Key' };
  const greedy = {
    name: 'greedy',
    tool_call_template: template({ url: `${service.origin}/greedy`, auth, headers: { 'X-More': '${COMPANY_TOKEN}' } }),
  };
  service.describe({ utcp_version: '1', tools: [greedy] });
  await imported({ name: 'greedy', call_template_type: 'http', url: service.url }, '?wait=60000');
  service.seen.length = 0;
  await server.alice.call('greedy:greedy');
  expect(service.seen).toHaveLength(1);
  expect(JSON.stringify(service.seen)).not.toMatch(/nobody-elses-business|COMPANY_TOKEN/);
});

test('[UTCP-1] the manual of another Toolcrib can be imported with a token, and its tools called through both', async () => {
  await using other = await startOpenServer();
  await other.admin.post('/api/sources?wait=60000', { name: 'Far', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' });
  await server.admin.put('/api/secrets/OTHER_TOKEN', { value: other.alice.token });
  const auth = { auth_type: 'api_key', api_key: 'Bearer $OTHER_TOKEN', var_name: 'Authorization', location: 'header' };
  const [entry] = await imported({ name: 'other', call_template_type: 'http', url: `${other.url}/api/utcp`, auth }, '?wait=60000');
  expect(entry).toMatchObject({
    outcome: 'registered',
    source: { status: { state: 'running' } },
    notes: [expect.stringContaining(other.url)],
  });
  expect((await server.bob.call('other:builtin.calculator', { expression: '6 * 7' })).json).toMatchObject({ result: { result: 42 } });
  expect((await server.bob.call('other.far.add', { a: 2, b: 40 })).json).toMatchObject({ result: { sum: 42 } });
  expect((await server.bob.call('other:far.echo', { text: 'Grüße & more' })).json).toMatchObject({ success: true, result: 'Grüße & more' });
  const given = { content: [{ type: 'text', text: 'deep' }], structuredContent: { list: [1, { a: null }] } };
  expect((await server.bob.call('other:far.give', { result: given })).json).toMatchObject({ result: { list: [1, { a: null }] } });
  expect((await server.bob.call('other:far.fail', { text: 'no such file' })).json).toMatchObject({
    success: false,
    error: { message: expect.stringContaining('no such file'), origin: 'tool' },
  });
  // There it is whoever the token is for; here it is whoever called.
  const { json } = await other.admin.get('/api/calls?tool=far:echo');
  expect(json.calls.map(({ subject }: { subject: string }) => subject)).toEqual([expect.any(String)]);
});

test('[SRC-4] the configuration of a desktop client is accepted as text, with its comments', async () => {
  const file = `{ // mine\n "mcpServers": { "desk": ${JSON.stringify({ ...runs, disabled: true, autoApprove: ['x'] })} } }`;
  const { json } = await fetch(`${server.url}/api/sources/import`, {
    method: 'POST',
    body: file,
    headers: { authorization: `Bearer ${server.admin.token}`, 'content-type': 'text/plain' },
  }).then(async (answer) => ({ json: (await answer.json()) as { entries: object[] } }));
  expect(json.entries).toEqual([
    {
      entry: 'mcpServers.desk',
      outcome: 'registered',
      source: expect.objectContaining({ enabled: false, status: { state: 'disabled' } }),
      notes: [expect.stringContaining('autoApprove')],
      error: null,
    },
  ]);
});

test.each<[string, unknown, string, number]>([
  ['nothing', {}, '', 400],
  ['a number', 7, '', 400],
  ['a text that is no JSON', '{"mcpServers"', '', 400],
  ['an unknown question', { mcpServers: {} }, '?colour=red', 400],
])('[SRC-4] %s is refused as a whole', async (_what, body, query, status) => {
  const answer = await server.admin.post(`/api/sources/import${query}`, body);
  expect([answer.status, answer.json.code]).toEqual([status, 'VALIDATION_ERROR']);
});

test('[SRC-4] an import is refused for anyone but administrators', async () => {
  expect((await server.alice.post('/api/sources/import', { mcpServers: { a: runs } })).status).toBe(403);
});

test('[SRC-4] a call template that is posted as a registration is refused with the right address', async () => {
  const { status, json } = await server.admin.post('/api/sources', original.production);
  expect([status, json.message]).toEqual([400, expect.stringContaining('POST /api/sources/import takes this as it is')]);
});
