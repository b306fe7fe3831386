import { expect, test } from 'vitest';
import { parseImport } from '../../src/sources/import/read-import.ts';
import { definitionsOf } from './import-fixture.ts';

const oauth2 = {
  auth_type: 'oauth2',
  client_id: '${CLIENT_ID}',
  client_secret: '${CLIENT_SECRET}',
  token_url: 'https://auth.example.com/token',
  scope: 'read:tools',
};
const clientCredentials = {
  type: 'client_credentials',
  token_url: 'https://auth.example.com/token',
  client_id: '${CLIENT_ID}',
  client_secret: { value: '${CLIENT_SECRET}' },
  scope: 'read:tools',
};

test('[SRC-4] the UTCP call template of the original documents is imported', async () => {
  const definitions = await definitionsOf({
    call_template_type: 'mcp',
    config: {
      mcpServers: {
        filesystem: { command: 'node', args: ['mcp-server.js'], cwd: '/app/mcp', env: { NODE_ENV: 'production', LOG_LEVEL: 'info' } },
      },
    },
    auth: oauth2,
    register_resources_as_tools: false,
  });
  expect(definitions['filesystem']).toMatchObject({
    transport_type: 'stdio',
    lifecycle_mode: 'singleton',
    runtime_hint: 'node',
    command: ['node', 'mcp-server.js'],
    cwd: '/app/mcp',
    environment: { NODE_ENV: { value: 'production' }, LOG_LEVEL: { value: 'info' } },
    // The authentication of a template is for servers that are spoken to over HTTP.
    credential: { type: 'none' },
    register_resources_as_tools: false,
  });
});

test('[SRC-4] a command with a Python path and a variable that is filled in later is imported', async () => {
  const definitions = await definitionsOf({
    config: {
      mcpServers: {
        my_server: {
          command: 'python',
          args: ['-m', 'mcp_server', '--config', 'config.json'],
          cwd: '/app',
          env: { PYTHONPATH: '/app/lib', API_KEY: '${MCP_API_KEY}' },
        },
      },
    },
  });
  expect(definitions['my_server']).toMatchObject({
    command: ['python', '-m', 'mcp_server', '--config', 'config.json'],
    cwd: '/app',
    environment: { PYTHONPATH: { value: '/app/lib' }, API_KEY: { value: '${MCP_API_KEY}' } },
  });
});

test('[SRC-4] an HTTP server uses the OAuth2 of its template as client credentials', async () => {
  const definitions = await definitionsOf({
    config: { mcpServers: { remote_server: { transport: 'http', url: 'https://mcp.example.com/api' } } },
    auth: oauth2,
  });
  expect(definitions['remote_server']).toMatchObject({
    transport_type: 'streamable_http',
    server_url: 'https://mcp.example.com/api',
    lifecycle_mode: 'singleton',
    credential: clientCredentials,
  });
});

test('[SRC-4] several servers of one template are one source each', async () => {
  const definitions = await definitionsOf({
    config: {
      mcpServers: {
        filesystem: { command: 'node', args: ['filesystem-server.js'] },
        database: { command: 'python', args: ['-m', 'db_server'] },
        remote_api: { transport: 'http', url: 'https://api.example.com/mcp' },
      },
    },
  });
  expect(Object.keys(definitions)).toEqual(['filesystem', 'database', 'remote_api']);
  expect(definitions['database']?.command).toEqual(['python', '-m', 'db_server']);
});

test('[SRC-4] a server that takes its credentials from its environment is imported', async () => {
  const env = { MCP_AUTH_TOKEN: '${MCP_SERVER_TOKEN}', MCP_CLIENT_ID: '${MCP_CLIENT_ID}' };
  const definitions = await definitionsOf({ config: { mcpServers: { secure_server: { command: 'secure-mcp-server', env } } } });
  expect(definitions['secure_server']).toMatchObject({
    command: ['secure-mcp-server'],
    environment: { MCP_AUTH_TOKEN: { value: '${MCP_SERVER_TOKEN}' }, MCP_CLIENT_ID: { value: '${MCP_CLIENT_ID}' } },
  });
});

test('[SRC-4] the development and production set-ups of the original documents are imported, alone and together', async () => {
  const development = {
    name: 'dev_mcp',
    call_template_type: 'mcp',
    config: {
      mcpServers: {
        filesystem: { command: 'node', args: ['dev-server.js'], env: { NODE_ENV: 'development' } },
        database: { command: 'python', args: ['-m', 'db_server', '--dev'] },
      },
    },
    register_resources_as_tools: true,
  };
  const production = {
    name: 'prod_mcp',
    call_template_type: 'mcp',
    config: { mcpServers: { api_server: { transport: 'http', url: 'https://mcp.example.com/api' } } },
    auth: { ...oauth2, client_id: '${MCP_CLIENT_ID}', client_secret: '${MCP_CLIENT_SECRET}', scope: 'mcp:access' },
    register_resources_as_tools: false,
  };
  const alone = { ...(await definitionsOf(development)), ...(await definitionsOf(production)) };
  expect(alone['filesystem']).toMatchObject({ register_resources_as_tools: true });
  expect(alone['api_server']).toMatchObject({ register_resources_as_tools: false, credential: { client_id: '${MCP_CLIENT_ID}' } });
  expect(await definitionsOf([development, production])).toEqual(alone);
  expect(await definitionsOf({ manual_call_templates: [development, production] })).toEqual(alone);
});

test('[SRC-4] a UTCP manual gives each server once, however many tools name it', async () => {
  const tool_call_template = { call_template_type: 'mcp', config: { mcpServers: { filesystem: { command: 'node', args: ['x.js'] } } } };
  const tool = (name: string) => ({ name, description: '', tool_call_template });
  const definitions = await definitionsOf({ utcp_version: '1.0.0', tools: [tool('filesystem.read_file'), tool('filesystem.write_file')] });
  expect(Object.keys(definitions)).toEqual(['filesystem']);
});

test('[SRC-4] servers keep the name of their call template', async () => {
  const template = (name: string, command: string) => ({
    name,
    call_template_type: 'mcp',
    config: { mcpServers: { [command]: { command } } },
  });
  const definitions = await definitionsOf([template('dev_mcp', 'x'), template('prod_mcp', 'y')]);
  expect(Object.values(definitions).map(({ manual }) => manual)).toEqual(['dev_mcp', 'prod_mcp']);
});

test('[SRC-4] two different servers of one name are kept apart', () => {
  const template = (command: string) => ({ call_template_type: 'mcp', config: { mcpServers: { a: { command } } } });
  const { registrations, problems } = parseImport(JSON.stringify([template('x'), template('y')]));
  expect(registrations).toHaveLength(1);
  expect(problems).toEqual([{ entry: '[1].config.mcpServers.a', message: expect.stringContaining('two different servers named a') }]);
});

test('[SRC-4] a key in the address of a tool becomes a credential, and is not stored with the manual', () => {
  const tool = (name: string, url: string, more: object = {}) => ({
    name,
    tool_call_template: { call_template_type: 'http', url, ...more },
  });
  const { registrations, problems } = parseImport(
    JSON.stringify({
      utcp_version: '1.0.1',
      tools: [
        tool('a', 'https://api.weather.example/now?units=metric&appid=$WEATHER_KEY&token={token}'),
        tool('b', 'https://api.weather.example/now?api_key=abc%2Fdef'),
        tool('c', 'https://me:pw-1234@api.weather.example/now'),
        tool('d', 'https://api.weather.example/?key=k-1234', { auth: { auth_type: 'api_key', api_key: 'x' } }),
      ],
    }),
  );
  expect(registrations.map(({ form }) => [form.name, 'credential' in form && form.credential])).toEqual([
    ['weather', { type: 'api_key', in: 'query', name: 'appid', value: '${WEATHER_KEY}' }],
    ['weather 2', { type: 'api_key', in: 'query', name: 'api_key', value: 'abc/def' }],
  ]);
  const texts = registrations.map(({ form }) => (form.source_type === 'openapi' ? (form['openapi'] as { text: string }).text : ''));
  expect(texts[0]).toContain('"https://api.weather.example/now?units=metric&token={token}"');
  expect(JSON.stringify(texts)).not.toMatch(/WEATHER_KEY|abc|pw-1234|k-1234/);
  expect(problems).toEqual([
    { entry: 'tools[2]', message: expect.stringContaining('auth (basic)') },
    { entry: 'tools[3]', message: expect.stringContaining('one credential') },
  ]);
});

test('[SRC-4] call templates that cannot be called from here and a template without servers are refused by name', () => {
  const { registrations, problems } = parseImport(
    JSON.stringify([
      { name: 'shell', call_template_type: 'cli', commands: [{ command: 'rm' }] },
      { name: 'file', call_template_type: 'text', file_path: './manual.json' },
      { name: 'stream', call_template_type: 'sse', url: 'https://api.example.com/events' },
      { name: 'empty', call_template_type: 'mcp', config: {} },
      { name: 'tool', call_template_type: 'http', url: 'https://api.example.com/users/{id}' },
      { name: 'post', call_template_type: 'http', url: 'https://api.example.com/utcp', http_method: 'POST' },
      { call_template_type: 'mcp', config: { mcpServers: { good: { command: 'x' } } } },
      { name: 'weather', call_template_type: 'http', url: 'https://api.example.com/utcp', http_method: 'GET' },
    ]),
  );
  expect(registrations.map(({ form }) => form.name)).toEqual(['good', 'weather']);
  expect(problems).toEqual([
    { entry: '[0]', message: expect.stringContaining('"cli" is not supported; use mcp or http') },
    { entry: '[1]', message: expect.stringContaining('Import that file') },
    { entry: '[2]', message: expect.stringContaining('"sse" is not supported') },
    { entry: '[3]', message: expect.stringContaining('config.mcpServers') },
    { entry: '[4]', message: expect.stringContaining('Put it into a manual') },
    { entry: '[5]', message: expect.stringContaining('http_method') },
  ]);
});

test.each<[string, object, object]>([
  [
    'a key in a header',
    { auth_type: 'api_key', api_key: '${KEY}', var_name: 'X-My-Key', location: 'header' },
    { credential: { type: 'api_key', in: 'header', name: 'X-My-Key', value: { value: '${KEY}' } } },
  ],
  [
    'a key in a cookie',
    { auth_type: 'api_key', api_key: '${KEY}', var_name: 'k', location: 'cookie' },
    { credential: { type: 'api_key', in: 'cookie', name: 'k', value: { value: '${KEY}' } } },
  ],
  [
    'a key in the query',
    { auth_type: 'api_key', api_key: '$KEY', var_name: 'k', location: 'query' },
    { credential: { type: 'api_key', in: 'query', name: 'k', value: { value: '${KEY}' } } },
  ],
  [
    'a bearer token',
    { auth_type: 'api_key', api_key: 'Bearer $TOKEN', var_name: 'Authorization' },
    { credential: { type: 'bearer', token: { value: '${TOKEN}' } } },
  ],
  [
    'a token that somebody signed in for',
    { auth_type: 'oauth2_user', access_token: '${TOKEN}' },
    { credential: { type: 'bearer', token: { value: '${TOKEN}' } } },
  ],
  [
    'a name and a password',
    { auth_type: 'basic', username: 'a', password: 'b' },
    { credential: { type: 'basic', username: 'a', password: { secret_ref: expect.any(String) } } },
  ],
])('[SRC-4] UTCP authentication by %s becomes the credential of the source', async (_what, auth, definition) => {
  const definitions = await definitionsOf({
    call_template_type: 'mcp',
    config: { mcpServers: { a: { transport: 'http', url: 'https://x.example' } } },
    auth,
  });
  expect(definitions['a']).toMatchObject(definition);
});

test.each<[string, object]>([
  ['of an unknown kind', { auth_type: 'magic' }],
  ['without a secret', { auth_type: 'oauth2', client_id: 'a', token_url: 'https://x.example' }],
  ['by a key somewhere else', { auth_type: 'api_key', api_key: 'a', location: 'body' }],
])('[SRC-4] UTCP authentication %s is reported, and never ignored', (_what, auth) => {
  const config = { call_template_type: 'mcp', config: { mcpServers: { a: { url: 'https://x.example' } } }, auth };
  const { registrations, problems } = parseImport(JSON.stringify(config));
  expect(registrations).toEqual([]);
  expect(problems).toEqual([{ entry: 'config.mcpServers.a', message: expect.stringMatching(/^auth/) }]);
});
