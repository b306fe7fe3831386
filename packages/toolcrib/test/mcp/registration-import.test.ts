import { expect, test } from 'vitest';
import { parseImport } from '../../src/sources/import/read-import.ts';
import { mcpRegistrationSchema } from '../../src/sources/mcp/registration/forms.ts';
import { register } from './registration-fixture.ts';

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

/** What an import gives once its registrations have been normalised. */
async function definitionsOf(config: unknown) {
  const { registrations, problems } = parseImport(typeof config === 'string' ? config : JSON.stringify(config));
  expect(problems).toEqual([]);
  const registered = await Promise.all(registrations.map(({ form }) => register(mcpRegistrationSchema.parse(form))));
  return Object.fromEntries(registered.map(({ name, definition }) => [name, definition]));
}

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

test('[SRC-4] an HTTP server takes the OAuth2 of its template as client credentials', async () => {
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

test.each<[string, unknown, object]>([
  [
    'a desktop client',
    { mcpServers: { a: { command: 'npx', args: ['-y', '@a/b', '/srv'], env: { LEVEL: 3, ON: true } } } },
    { command: ['npx', '-y', '@a/b', '/srv'], environment: { LEVEL: { value: '3' }, ON: { value: 'true' } } },
  ],
  [
    'an editor',
    { servers: { a: { type: 'stdio', command: 'uvx', args: ['x'] } }, inputs: [] },
    { command: ['uvx', 'x'], runtime_hint: 'uvx' },
  ],
  [
    'an editor over HTTP',
    { servers: { a: { type: 'http', url: 'https://x.example/mcp', headers: { 'X-A': 'b' } } } },
    { server_url: 'https://x.example/mcp', headers: { 'X-A': { value: 'b' } } },
  ],
  ['the settings of an editor', { mcp: { servers: { a: { command: 'x' } } }, 'editor.fontSize': 12 }, { command: ['x'] }],
  ['an old server', { mcpServers: { a: { type: 'sse', url: 'https://x.example/events' } } }, { transport_type: 'sse' }],
  ['an address that says it is an old one', { mcpServers: { a: { url: 'https://x.example/sse' } } }, { transport_type: 'sse' }],
  [
    'another spelling of HTTP',
    { mcpServers: { a: { type: 'streamable-http', url: 'https://x.example/sse' } } },
    { transport_type: 'streamable_http' },
  ],
  [
    'one more spelling',
    { mcpServers: { a: { transport: 'streamableHttp', url: 'https://x.example' } } },
    { transport_type: 'streamable_http' },
  ],
  ['an address by another name', { mcpServers: { a: { serverUrl: 'https://x.example/mcp' } } }, { server_url: 'https://x.example/mcp' }],
  [
    'an address by yet another name',
    { mcpServers: { a: { httpUrl: 'https://x.example/mcp', includeTools: ['b'] } } },
    { server_url: 'https://x.example/mcp', tools: { include: ['b'], exclude: [] } },
  ],
  [
    'a command that is a list',
    { mcp: { a: { type: 'local', command: ['npx', '-y', 'x'], environment: { A: 'b' } } } },
    { command: ['npx', '-y', 'x'], environment: { A: { value: 'b' } } },
  ],
  [
    'a command that is an object',
    { context_servers: { a: { command: { path: 'x', args: ['b'], env: { C: 'd' } }, settings: {} } } },
    { command: ['x', 'b'], environment: { C: { value: 'd' } } },
  ],
  ['servers alone', { a: { command: 'x', args: ['b'] } }, { command: ['x', 'b'] }],
  [
    'the way Windows starts a script',
    { mcpServers: { a: { command: 'cmd', args: ['/c', 'npx', '-y', 'x'] } } },
    { command: ['npx', '-y', 'x'] },
  ],
  [
    'the variables of an editor',
    { mcpServers: { a: { command: 'x', env: { A: '${env:HOME_TOKEN}', B: '${input:api-key}' } } } },
    { environment: { A: { value: '${HOME_TOKEN}' }, B: { value: '${API_KEY}' } } },
  ],
  [
    'an authorisation that is filled in later',
    { mcpServers: { a: { url: 'https://x.example', headers: { Authorization: 'Bearer ${input:token}' } } } },
    { headers: { Authorization: { value: 'Bearer ${TOKEN}' } } },
  ],
  [
    'what only a client knows',
    { mcpServers: { a: { command: 'x', autoApprove: ['b'], alwaysAllow: [], timeout: 60, icon: null } } },
    { command: ['x'], resilience: { requestTimeoutMs: 60_000 } },
  ],
  ['npx that would ask', { mcpServers: { a: { command: 'npx', args: ['some-server'] } } }, { command: ['npx', '-y', 'some-server'] }],
  [
    'npx that does not ask',
    { mcpServers: { a: { command: 'npx', args: ['--yes', 'some-server', '-y'] } } },
    { command: ['npx', '--yes', 'some-server', '-y'] },
  ],
  [
    'tools that are switched off',
    { mcpServers: { a: { command: 'x', disabledTools: ['b'] } } },
    { tools: { include: [], exclude: ['b'] } },
  ],
  [
    'times in milliseconds and in seconds',
    { mcp_servers: { a: { command: 'x', timeout: 90_000, startup_timeout_sec: 20 } } },
    { resilience: { requestTimeoutMs: 90_000, startupTimeoutMs: 20_000 } },
  ],
  [
    'a variable without braces',
    { mcpServers: { a: { command: 'x', args: ['$HOME_DIR/data'], env: { A: 'Bearer $API_TOKEN', B: 'pa$WORD', C: '$5 and $lower' } } } },
    {
      command: ['x', '${HOME_DIR}/data'],
      environment: { A: { value: 'Bearer ${API_TOKEN}' }, B: { value: 'pa$WORD' }, C: { value: '$5 and $lower' } },
    },
  ],
])('[SRC-4] %s is understood', async (_what, config, definition) => {
  expect((await definitionsOf(config))['a']).toMatchObject({ lifecycle_mode: 'singleton', ...definition });
});

test('[SRC-4] what means nothing here is told, and not left out silently', () => {
  const entry = { command: 'x', description: 'Mine', autoApprove: ['b'], timeout: 2000, gateway: 'y', env: {}, type: 'stdio' };
  const { registrations } = parseImport(JSON.stringify({ mcpServers: { a: entry, b: { command: 'x', timeout: 30 } } }));
  expect(registrations.map(({ notes }) => notes)).toEqual([
    [
      'autoApprove: not used. Policies say who may use which tool',
      'Not used: gateway',
      expect.stringContaining('2000 may be seconds or milliseconds'),
    ],
    ['timeout: read as 30 seconds for each call'],
  ]);
  expect(registrations[0]?.form).not.toHaveProperty('resilience');
});

test('[SRC-4] the name of a call template stays with its servers', async () => {
  const template = (name: string, command: string) => ({
    name,
    call_template_type: 'mcp',
    config: { mcpServers: { [command]: { command } } },
  });
  const definitions = await definitionsOf([template('dev_mcp', 'x'), template('prod_mcp', 'y')]);
  expect(Object.values(definitions).map(({ manual }) => manual)).toEqual(['dev_mcp', 'prod_mcp']);
});

test('[SRC-4] a server that a client has switched off stays so', () => {
  const { registrations } = parseImport(
    JSON.stringify({ mcpServers: { a: { command: 'x', disabled: true }, b: { command: 'x', enabled: false }, c: { command: 'x' } } }),
  );
  expect(registrations.map(({ form }) => form.enabled)).toEqual([false, false, true]);
});

test('[SRC-4] comments and commas too many, as editors allow them, do not matter', async () => {
  const definitions = await definitionsOf(`\uFEFF// My servers
  {
    "mcpServers": { /* one */
      "a": { "command": "x", "args": ["http://b//c", "/* no comment */", ",]", "\\"//",], }, // the end
    },
  }`);
  expect(definitions['a']?.command).toEqual(['x', 'http://b//c', '/* no comment */', ',]', '"//']);
});

test.each<[string, unknown, RegExp]>([
  ['neither a command nor an address', {}, /neither a command nor an address/],
  ['a command and an address', { command: 'x', url: 'https://x.example' }, /only one/],
  ['something else', 'npx x', /expected object/],
  ['null', null, /expected object/],
  ['arguments that are a text', { command: 'x', args: '-y' }, /^args: /],
  ['an unknown transport', { type: 'websocket', url: 'https://x.example' }, /no transport/],
  ['a command over HTTP', { type: 'http', command: 'x' }, /give its url/],
  ['an address over stdio', { type: 'stdio', url: 'https://x.example' }, /over stdio/],
  ['a file of variables', { command: 'x', envFile: '${workspaceFolder}/.env' }, /^envFile: /],
  ['a folder that only an editor knows', { command: 'x', args: ['${workspaceFolder}/x'] }, /known to an editor only/],
  ['a default that only a client knows', { command: 'x', env: { A: '${B:-c}' } }, /known to an editor only/],
])('[SRC-4] an entry with %s is reported beside the good ones', (_what, entry, message) => {
  const { registrations, problems } = parseImport(
    JSON.stringify({ mcpServers: { good: { command: 'x' }, bad: entry, also: { url: 'https://x.example' } } }),
  );
  expect(registrations.map(({ form }) => form.name)).toEqual(['good', 'also']);
  expect(problems).toEqual([{ entry: 'mcpServers.bad', message: expect.stringMatching(message) }]);
});

test('[SRC-4] two different servers of one name are not mistaken for one', () => {
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
  const texts = registrations.map(({ form }) => (form.source_type === 'openapi' ? form.openapi.text : ''));
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
    { entry: '[0]', message: expect.stringContaining('"cli" cannot be called from here: mcp and http can') },
    { entry: '[1]', message: expect.stringContaining('Import that file') },
    { entry: '[2]', message: expect.stringContaining('"sse" cannot be called from here') },
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
])('[SRC-4] UTCP authentication %s is reported, and never left out', (_what, auth) => {
  const config = { call_template_type: 'mcp', config: { mcpServers: { a: { url: 'https://x.example' } } }, auth };
  const { registrations, problems } = parseImport(JSON.stringify(config));
  expect(registrations).toEqual([]);
  expect(problems).toEqual([{ entry: 'config.mcpServers.a', message: expect.stringMatching(/^auth/) }]);
});

test.each<[string, string]>([
  ['an empty text', ''],
  ['no JSON', 'mcpServers:'],
  ['an open comment', '{ /* '],
  ['an authentication alone', JSON.stringify({ auth: oauth2 })],
  ['an empty object', '{}'],
  ['a number', '7'],
  ['no servers', '{"mcpServers": {}}'],
  ['a changed prototype', '{"mcpServers": {"__proto__": {"command": "x"}}}'],
  ['deep nesting', `{"mcpServers": ${'{"a":'.repeat(100_000)}`],
  ['a text that is too long', ' '.repeat(5_000_000)],
  [
    'too many servers',
    JSON.stringify({ mcpServers: Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`s${index}`, { command: 'x' }])) }),
  ],
])('[SRC-4] %s is refused as a whole', (_what, text) => {
  expect(() => parseImport(text)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
});

test('[SRC-4] a file of nothing but commas and brackets is read in no time to speak of', () => {
  expect(() => parseImport(`{"mcpServers": {"a": {"command": "x", "args": [${'[,],'.repeat(300_000)}]}}}`)).not.toThrow();
});
