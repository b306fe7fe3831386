import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { mcpDefinitionSchema } from '../../src/sources/mcp/mcp-definition.ts';
import { mcpRegistrationSchema } from '../../src/sources/mcp/registration/forms.ts';
import { dockerRun, pluginDirectory, refusalOf, register, secretName } from './registration-fixture.ts';

const npm = { package_type: 'npm', identifier: 'x' };
const stdio = { type: 'stdio' };
const mcp = { package: npm, transport: stdio };
const remote = { name: 'a', mcp_server_url: 'https://mcp.example.com/mcp' };
const command = { name: 'a', mcp_command: ['server'] };

test.each<[string, object, string, string | RegExp]>([
  ['no name', { mcp }, 'name', 'Name is required'],
  ['an empty name', { name: '', mcp }, 'name', 'Name is required'],
  ['a blank name', { name: ' \t\n', mcp }, 'name', 'Name is required'],
  ['no package', { name: 'a', mcp: { transport: stdio } }, 'mcp.package.identifier', 'Package identifier required'],
  [
    'no identifier',
    { name: 'a', mcp: { package: { package_type: 'npm' }, transport: stdio } },
    'mcp.package.identifier',
    'Package identifier required',
  ],
  [
    'a blank identifier',
    { name: 'a', mcp: { package: { ...npm, identifier: '  ' }, transport: stdio } },
    'mcp.package.identifier',
    'Package identifier required',
  ],
  ['no transport', { name: 'a', mcp: { package: npm } }, 'mcp.transport', 'Transport required'],
  [
    'a required variable without a value',
    { name: 'a', mcp: { ...mcp, env_vars: { A: { is_secret: false, required: true } } } },
    'mcp.env_vars.A',
    'Missing required credentials',
  ],
  [
    'a required secret without a value',
    { name: 'a', mcp: { ...mcp, env_vars: { A: { is_secret: true, required: true, value: '' } } } },
    'mcp.env_vars.A',
    'Missing required credentials',
  ],
  [
    'a bearer token that is empty',
    { ...remote, credential: { type: 'bearer', token: '' } },
    'credential.token',
    'Missing required credentials',
  ],
])('[SRC-10] [MC-NT3] [MC-NT4] %s is refused in the words of the contract', async (_what, body, field, message) => {
  expect(await refusalOf(register(body))).toEqual({ code: 'VALIDATION_ERROR', message, field });
});

test.each<[string, object, string]>([
  ['nothing that says where the server is', { name: 'a' }, 'mcp_plugin_dir'],
  ['only an address for people', { name: 'a', url: 'https://example.com' }, 'mcp_server_url'],
  ['streamable HTTP without an address', { ...command, mcp_transport_type: 'streamable_http' }, 'mcp_server_url'],
  ['stdio with an address', { ...remote, mcp_transport_type: 'stdio' }, 'mcp_transport_type'],
  ['a relative plugin directory', { name: 'a', mcp_plugin_dir: 'plugins/x' }, 'mcp_plugin_dir'],
  ['a plugin directory that is not there', { name: 'a', mcp_plugin_dir: '/no/such/directory' }, 'mcp_plugin_dir'],
  ['both forms at once', { name: 'a', mcp, mcp_server_url: 'https://example.com' }, 'mcp_server_url'],
  [
    'a started package over http',
    { name: 'a', mcp: { package: npm, transport: { type: 'http', url: 'https://x.example' } } },
    'mcp.transport',
  ],
  [
    'an http package over stdio',
    { name: 'a', mcp: { package: { package_type: 'http', identifier: 'x' }, transport: stdio } },
    'mcp.transport',
  ],
  [
    'a runtime that does not start the package',
    { name: 'a', mcp: { package: { ...npm, runtime_hint: 'uvx' }, transport: stdio } },
    'mcp.package.runtime_hint',
  ],
  ['a version that is an option', { name: 'a', mcp: { package: { ...npm, version: '--evil' }, transport: stdio } }, 'mcp.package.version'],
  [
    'a version said twice',
    { name: 'a', mcp: { package: { ...npm, identifier: 'x@1', version: '2' }, transport: stdio } },
    'mcp.package.identifier',
  ],
  [
    'an identifier that is an option',
    { name: 'a', mcp: { package: { ...npm, identifier: '--call=evil' }, transport: stdio } },
    'mcp.package.identifier',
  ],
  [
    'an identifier that is an address',
    { name: 'a', mcp: { package: { ...npm, identifier: 'https://evil.example/x.tgz' }, transport: stdio } },
    'mcp.package.identifier',
  ],
  [
    'a relative program',
    { name: 'a', mcp: { package: { package_type: 'binary', identifier: './x' }, transport: stdio } },
    'mcp.package.identifier',
  ],
  ['a relative program by command', { name: 'a', mcp_command: ['./x'] }, 'mcp_command'],
  ['a relative directory to start in', { ...command, mcp_cwd: 'x' }, 'mcp_cwd'],
  ['a shell', { name: 'a', mcp_command: ['bash', '-c', 'evil'] }, 'mcp_command'],
  ['a namespace with capitals', { ...remote, namespace: 'GitHub' }, 'namespace'],
  ['a namespace that is too long', { ...remote, namespace: 'a'.repeat(33) }, 'namespace'],
  ['an address that is none', { name: 'a', mcp_server_url: 'example.com/mcp' }, 'mcp_server_url'],
  ['an address of another kind', { name: 'a', mcp_server_url: 'file:///etc/passwd' }, 'mcp_server_url'],
  ['an address with a password', { name: 'a', mcp_server_url: 'https://u:p@example.com' }, 'mcp_server_url'],
  ['an address with a fragment', { name: 'a', mcp_server_url: 'https://example.com/#x' }, 'mcp_server_url'],
  ['an address whose host is filled in later', { name: 'a', mcp_server_url: 'https://${HOST}/mcp' }, 'mcp_server_url'],
  ['plain http to another machine', { name: 'a', mcp_server_url: 'http://mcp.example.com' }, 'allow_insecure'],
  [
    'a token endpoint over plain http',
    { ...remote, credential: { type: 'client_credentials', token_url: 'http://a.example', client_id: 'a', client_secret: 'b' } },
    'allow_insecure',
  ],
  ['a header that belongs to the connection', { ...remote, headers: { Host: 'x' } }, 'headers.Host'],
  ['a header with a line break', { ...remote, headers: { 'X-A': 'a\r\nX-B: c' } }, 'headers.X-A'],
  [
    'a header that comes from a variable, with a line break',
    { ...remote, mcp_env_vars: { MCP_HEADER_X_A: 'a\nb' } },
    'mcp_env_vars.MCP_HEADER_X_A',
  ],
  ['a header twice', { ...remote, headers: { 'X-A': 'a', 'x-a': 'b' } }, 'headers'],
  ['headers for a server that is started here', { ...command, headers: { 'X-A': 'a' } }, 'headers'],
  ['NODE_OPTIONS', { ...command, mcp_env_vars: { NODE_OPTIONS: '--require /tmp/x' } }, 'mcp_env_vars.NODE_OPTIONS'],
  ['LD_PRELOAD', { ...command, mcp_env_vars: { LD_PRELOAD: '/tmp/x.so' } }, 'mcp_env_vars.LD_PRELOAD'],
  ['npm settings', { ...command, mcp_env_vars: { npm_config_registry: 'https://evil.example' } }, 'mcp_env_vars.npm_config_registry'],
  ['a value that cannot be in an environment', { ...command, mcp_env_vars: { A: 'a\0b' } }, 'mcp_env_vars.A'],
  ['the mask of a secret', { ...command, mcp_env_vars: { API_TOKEN: '***' } }, 'mcp_env_vars.API_TOKEN'],
  ["another source's secret", { ...command, mcp_env_vars: { A: { secret_ref: 'mcp_other.API_TOKEN' } } }, 'mcp_env_vars.A'],
])('[SRC-1] [SRC-2] [ENV-6] %s is refused, and the field is named', async (_what, body, field) => {
  const refused = await refusalOf(register(body));
  expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', field });
  expect(refused.message).not.toContain('undefined');
});

test.each([
  ['an unknown field', { ...remote, mcp_server: 'x' }],
  ['an unknown field of the package', { name: 'a', mcp: { ...mcp, package: { ...npm, registry: 'x' } } }],
  ['an id', { ...remote, id: 'mine' }],
  ['another source type', { ...remote, source_type: 'openapi' }],
  ['a command without anything', { name: 'a', mcp_command: [] }],
])('[SRC-1] [SRC-2] %s does not fit the form', (_what, body) => {
  expect(mcpRegistrationSchema.safeParse(body).success).toBe(false);
});

test('[SRC-1] an address makes a server remote: streamable HTTP, or the old SSE if requested', async () => {
  expect((await register(remote)).definition).toMatchObject({ transport_type: 'streamable_http', server_url: remote.mcp_server_url });
  expect((await register({ ...remote, mcp_transport_type: 'sse' })).definition.transport_type).toBe('sse');
  expect((await register({ ...remote, mcp_plugin_dir: '/no/such/directory' })).definition.plugin_dir).toBeNull();
});

test('[SRC-1] a command replaces that of the manifest, and arguments are added to either', async () => {
  const manifest = {
    name: 'x',
    packages: [{ runtime: 'node', command: ['server.js', '--a'], environment_variables: [{ name: 'A', required: true }] }],
  };
  const directory = await pluginDirectory({ 'server.json': manifest, 'server.js': '', 'other.py': '' });
  const body = { name: 'a', mcp_plugin_dir: directory, mcp_env_vars: { A: '1' } };
  const own = await register({ ...body, mcp_args: ['--b'] });
  expect(own.definition).toMatchObject({ command: ['node', `${directory}/server.js`, '--a', '--b'], runtime_hint: 'node' });
  const other = await register({ ...body, mcp_command: ['other.py', '-c'], mcp_args: ['x'] });
  expect(other.definition.command.slice(1)).toEqual([`${directory}/other.py`, '-c', 'x']);
  expect(other.definition).toMatchObject({ runtime_hint: 'python', cwd: directory });
  expect(other.definition.env_definitions).toHaveLength(1);
});

test('[SRC-1] a plugin directory with a command needs no manifest', async () => {
  const directory = await pluginDirectory({ 'bin/server': '' });
  const { definition } = await register({ name: 'a', mcp_plugin_dir: directory, mcp_command: 'bin/server' });
  expect(definition).toMatchObject({ command: [`${directory}/bin/server`], manifest_path: null, plugin_dir: directory });
  expect(await refusalOf(register({ name: 'a', mcp_plugin_dir: directory }))).toMatchObject({ field: 'mcp_plugin_dir' });
});

test('[SRC-1] a runtime hint says what starts the command', async () => {
  const commandOf = async (hint: string, own: string[]) =>
    (await register({ name: 'a', mcp_runtime_hint: hint, mcp_command: own })).definition.command;
  expect(await commandOf('npx', ['@a/b', '--x'])).toEqual(['npx', '-y', '@a/b', '--x']);
  expect(await commandOf('npx', ['npx', '@a/b'])).toEqual(['npx', '@a/b']);
  expect(await commandOf('uvx', ['a'])).toEqual(['uvx', 'a']);
  expect(await commandOf('docker', ['a:1', '--x'])).toEqual([...dockerRun, 'a:1', '--x']);
  expect(await commandOf('node', ['/srv/x.js'])).toEqual(['node', '/srv/x.js']);
});

test('[SRC-8] a preview names missing fields instead of refusing', async () => {
  const env_vars = { A: { is_secret: true, required: true }, B: { value: 'b', is_secret: false, required: true } };
  const { missing, starts } = await register({ name: 'a', mcp: { ...mcp, env_vars } }, { preview: true });
  expect(missing).toEqual(['mcp.env_vars.A']);
  expect(starts).toEqual({ runtime: 'npx', runs: ['x'] });
});

test('[SRC-10] a required variable whose reference does not exist is missing', async () => {
  const registerWith = (variable: object) =>
    register(
      {
        name: 'a',
        mcp: { ...mcp, env_vars: { TOKEN: { is_secret: true, required: true, ...variable }, OTHER: { value: 'x', is_secret: false } } },
      },
      { hasSecret: async (name) => name === 'known', hasVariable: async (name) => name === 'SHARED' },
    );
  for (const variable of [{ secret_ref: 'known' }, { value: '${SHARED}' }, { value: '${OTHER}' }, { value: 'abc' }]) {
    expect((await registerWith(variable)).missing).toEqual([]);
  }
  for (const variable of [{ secret_ref: 'unknown' }, { value: '${UNKNOWN}' }, { value: '${TOKEN}' }]) {
    expect(await refusalOf(registerWith(variable))).toEqual({
      code: 'VALIDATION_ERROR',
      message: 'Missing required credentials',
      field: 'mcp.env_vars.TOKEN',
    });
  }
});

test.each([
  ['GITHUB_TOKEN', 'abc', true],
  ['API_KEY', 'abc', true],
  ['CLIENT_SECRET', 'abc', true],
  ['DB_PASSWORD', 'abc', true],
  ['apiToken', 'abc', true],
  ['DATABASE_URL', 'postgres://user:pass@db/x', true],
  ['DATABASE_URL', 'postgres://user:${PASSWORD}@db/x', false],
  ['NODE_ENV', 'production', false],
  ['MAX_TOKENS', '4096', false],
  ['KEYBOARD', 'de', false],
  ['GITHUB_TOKEN', '${GITHUB_TOKEN}', false],
  ['GITHUB_TOKEN', '', false],
])('[ENV-4] the variable %s with the value %j is kept as a secret: %s', async (name, value, secret) => {
  const { definition, secrets } = await register({ ...command, mcp_env_vars: { [name]: value } });
  expect(definition.environment).toEqual({ [name]: secret ? { secret_ref: secretName(name) } : { value } });
  expect(secrets).toEqual(secret ? { [name]: value } : {});
});

test('[ENV-4] secrets in arguments, addresses, headers and credentials are removed from the definition', async () => {
  const local = await register({
    name: 'a',
    mcp_command: [
      'npx',
      '-y',
      'x',
      '--api-key',
      'S1',
      '--token=S2',
      '--header',
      'Authorization: Bearer S3',
      '--port',
      '1',
      'postgres://u:S4@db/x',
      '--key',
      '${MINE}',
    ],
    url: 'https://u:S5@example.com/?token=S6&page=1',
  });
  expect(local.definition.command).toEqual([
    'npx',
    '-y',
    'x',
    '--api-key',
    '${ARG_API_KEY}',
    '--token=${ARG_TOKEN}',
    '--header',
    'Authorization: ${ARG_AUTHORIZATION}',
    '--port',
    '1',
    '${ARG_SECRET}',
    '--key',
    '${MINE}',
  ]);
  expect(local.secrets).toEqual({ ARG_API_KEY: 'S1', ARG_TOKEN: 'S2', ARG_AUTHORIZATION: 'Bearer S3', ARG_SECRET: 'postgres://u:S4@db/x' });
  expect(JSON.stringify(local.definition)).not.toMatch(/S\d/);

  const docker = await register({
    name: 'a',
    mcp_command: ['docker', 'run', '-i', '--rm', '-e', 'A_TOKEN=S1', '--env=B_TOKEN=S2', '-e', 'LEVEL=info', 'mcp/x'],
  });
  const added = ['--init', '--memory', '512m', '--memory-swap', '512m', '--pids-limit', '256', '--security-opt', 'no-new-privileges'];
  const own = ['-i', '--rm', '-e', 'A_TOKEN', '--env=B_TOKEN', '-e', 'LEVEL=info', 'mcp/x'];
  expect(docker.definition.command).toEqual(['docker', 'run', ...added, ...own]);
  expect(docker.secrets).toEqual({ A_TOKEN: 'S1', B_TOKEN: 'S2' });

  const far = await register({
    ...remote,
    mcp_server_url: 'https://mcp.example.com/mcp?api_key=S1&profile=p',
    mcp_env_vars: { BEARER_TOKEN: 'S2', MCP_HEADER_X_Y: 'plain' },
    headers: { 'X-API-Key': 'S3', 'X-Region': 'eu' },
    credential: { type: 'client_credentials', token_url: 'https://auth.example.com/token', client_id: 'me', client_secret: 'S4' },
  });
  expect(far.definition).toMatchObject({
    server_url: 'https://mcp.example.com/mcp?api_key=${URL_API_KEY}&profile=p',
    environment: {
      BEARER_TOKEN: { secret_ref: secretName('BEARER_TOKEN') },
      MCP_HEADER_X_Y: { value: 'plain' },
      URL_API_KEY: { secret_ref: secretName('URL_API_KEY') },
    },
    headers: { 'X-API-Key': { secret_ref: secretName('header.X-API-Key') }, 'X-Region': { value: 'eu' } },
    credential: { client_secret: { secret_ref: secretName('credential.client_secret') } },
  });
  expect(far.secrets).toEqual({ BEARER_TOKEN: 'S2', URL_API_KEY: 'S1', 'header.X-API-Key': 'S3', 'credential.client_secret': 'S4' });
  expect(JSON.stringify(far.definition)).not.toMatch(/S\d/);
});

test('two secrets that would have the same name get different ones', async () => {
  const { definition, secrets } = await register({ name: 'a', mcp_command: ['x', '--token', 'S1', '--token', 'S2', '--token', 'S1'] });
  expect(definition.command).toEqual(['x', '--token', '${ARG_TOKEN}', '--token', '${ARG_TOKEN_2}', '--token', '${ARG_TOKEN}']);
  expect(secrets).toEqual({ ARG_TOKEN: 'S1', ARG_TOKEN_2: 'S2' });
});

test('[SRC-1] the common fields reach the definition', async () => {
  const common = {
    namespace: 'mine',
    enabled: false,
    standby: 2,
    register_resources_as_tools: true,
    resilience: { requestTimeoutMs: 5 },
    tools: { include: ['get_*'] },
    mcp_lifecycle_mode: 'singleton',
  };
  const registered = await register({ name: 'a', mcp, ...common });
  expect(registered).toMatchObject({
    namespace: 'mine',
    enabled: false,
    definition: {
      standby: 2,
      register_resources_as_tools: true,
      lifecycle_mode: 'singleton',
      resilience: { requestTimeoutMs: 5, startupTimeoutMs: 60_000 },
      tools: { include: ['get_*'], exclude: [] },
    },
  });
});

test('a definition fits its own schema unchanged, and the same registration always gives the same', async () => {
  const value = fc.oneof(fc.string({ maxLength: 30 }), fc.constantFrom('${A}', 'ghp_abcdefghij', 'postgres://a:b@c/d'));
  const names = fc.constantFrom('A', 'API_KEY', 'GITHUB_TOKEN', 'NODE_ENV', 'MCP_HEADER_X_Y', 'url', '_x');
  const body = fc.record({
    name: fc.string({ minLength: 1, maxLength: 60 }).map((name) => `a${name}`),
    mcp_command: fc.tuple(fc.constantFrom('server', '/usr/bin/server'), value, value).map((parts) => parts),
    mcp_env_vars: fc.dictionary(names, value, { maxKeys: 5, noNullPrototype: true }),
  });
  await fc.assert(
    fc.asyncProperty(body, async (form) => {
      const accepted = await register(form).catch(() => undefined);
      if (accepted === undefined) return;
      expect(mcpDefinitionSchema.parse(accepted.definition)).toEqual(accepted.definition);
      expect(await register(form)).toEqual(accepted);
    }),
    { numRuns: 300 },
  );
});

test('the form gives a JSON Schema that says what is required, and describes its fields', () => {
  const schema = z.toJSONSchema(mcpRegistrationSchema, { io: 'input' }) as {
    required: string[];
    properties: Record<string, { description?: string }>;
  };
  expect(schema.required).toEqual(['name']);
  expect(schema.properties['mcp_plugin_dir']?.description).toContain('server.json');
});
