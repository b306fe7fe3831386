import { expect, test } from 'vitest';
import { parseJsonc } from '../../src/model/parse-jsonc.ts';
import { dockerRun, pluginDirectory, refusalOf, register, secretName } from './registration-fixture.ts';

const githubManifest = {
  name: '@modelcontextprotocol/github',
  version: '1.0.0',
  description: 'GitHub MCP server for repository operations',
  packages: [
    {
      name: 'default',
      transport_type: 'stdio',
      runtime: 'uvx',
      command: ['mcp-server-github'],
      environment_variables: [{ name: 'GITHUB_TOKEN', description: 'GitHub Personal Access Token', required: true, secret: true }],
    },
  ],
};

const githubPlugin = {
  name: 'GitHub MCP',
  url: 'mcp://github-plugin',
  source_type: 'mcp',
  mcp_transport_type: 'stdio',
  mcp_runtime_hint: 'uvx',
  mcp_lifecycle_mode: 'transient',
  mcp_env_vars: { GITHUB_TOKEN: 'ghp_xxx...' },
};

test('[SRC-1] [SRC-7] the plugin of the original documents is registered, and its token is removed from the definition', async () => {
  const directory = await pluginDirectory({ 'plugin.json': githubManifest });
  const registered = await register({ ...githubPlugin, mcp_plugin_dir: directory });
  expect(registered).toEqual({
    name: 'GitHub MCP',
    document: null,
    namespace: 'github-mcp',
    enabled: true,
    secrets: { GITHUB_TOKEN: 'ghp_xxx...' },
    starts: { runtime: 'uvx', runs: ['mcp-server-github'] },
    missing: [],
    definition: {
      transport_type: 'stdio',
      lifecycle_mode: 'transient',
      standby: 0,
      runtime_hint: 'uvx',
      command: ['uvx', 'mcp-server-github'],
      cwd: directory,
      container: null,
      plugin_dir: directory,
      manifest_path: `${directory}/plugin.json`,
      url: 'mcp://github-plugin',
      server_url: null,
      allow_insecure: false,
      environment: { GITHUB_TOKEN: { secret_ref: secretName('GITHUB_TOKEN') } },
      env_definitions: [{ name: 'GITHUB_TOKEN', description: 'GitHub Personal Access Token', required: true, secret: true }],
      headers: {},
      credential: { type: 'none' },
      discovery_credential: null,
      credential_env: null,
      resilience: expect.objectContaining({ requestTimeoutMs: 30_000, restart: { maxAttempts: 5, backoffMs: 1000 } }),
      limits: {},
      tools: { include: [], exclude: [] },
      pinning: 'off',
      process_limits: {},
      refresh_interval_ms: 0,
      register_resources_as_tools: false,
      on_secret_change: 'restart',
      looked_up: null,
      origin: 'manual',
      config: null,
    },
  });
});

test('[SRC-1] the shorter plugin example, without a lifecycle, is transient', async () => {
  const directory = await pluginDirectory({ 'server.json': githubManifest });
  const { mcp_lifecycle_mode: _mode, ...shorter } = githubPlugin;
  const { definition } = await register({ ...shorter, mcp_plugin_dir: directory });
  expect(definition).toMatchObject({ lifecycle_mode: 'transient', manifest_path: `${directory}/server.json` });
});

const remoteExample = `{
  "name": "CML MCP Server",
  "url": "http://cml-mcp:9000",
  "source_type": "mcp",
  "mcp_server_url": "http://cml-mcp:9000",
  "mcp_transport_type": "streamable_http",
  "mcp_env_vars": {
    "API_KEY": "optional-auth-header"  // pragma: allowlist secret
  }
}`;

test('[SRC-1] [ENV-5] the remote server of the original documents is registered once plain http has been allowed', async () => {
  const body = parseJsonc(remoteExample) as object;
  expect(await refusalOf(register(body))).toMatchObject({ code: 'VALIDATION_ERROR', field: 'allow_insecure' });
  const { definition, secrets, starts } = await register({ ...body, allow_insecure: true });
  expect(starts).toBeNull();
  expect(secrets).toEqual({ API_KEY: 'optional-auth-header' });
  expect(definition).toMatchObject({
    server_url: 'http://cml-mcp:9000',
    transport_type: 'streamable_http',
    command: [],
    plugin_dir: null,
    environment: { API_KEY: { secret_ref: secretName('API_KEY') } },
  });
});

test('[SRC-1] the remote example without a key is registered', async () => {
  const { mcp_env_vars: _variables, ...body } = parseJsonc(remoteExample) as { mcp_env_vars: unknown };
  const { definition } = await register({ ...body, allow_insecure: true });
  expect(definition).toMatchObject({ server_url: 'http://cml-mcp:9000', environment: {} });
});

const stdio = { type: 'stdio' };

test.each([
  ['npm', { package_type: 'npm', identifier: '@scope/package' }, ['npx', '-y', '@scope/package']],
  ['npm with a version', { package_type: 'npm', identifier: '@scope/package', version: '1.2.3' }, ['npx', '-y', '@scope/package@1.2.3']],
  ['npm with arguments', { package_type: 'npm', identifier: 'x', args: ['--a', '; rm -rf /'] }, ['npx', '-y', 'x', '--a', '; rm -rf /']],
  ['npm with its hint', { package_type: 'npm', identifier: 'x', runtime_hint: 'npx' }, ['npx', '-y', 'x']],
  ['pypi', { package_type: 'pypi', identifier: 'mcp-server-time' }, ['uvx', 'mcp-server-time']],
  [
    'pypi with a version',
    { package_type: 'pypi', identifier: 'mcp-server-time', version: '2026.10.19' },
    ['uvx', 'mcp-server-time@2026.10.19'],
  ],
  [
    'pypi with a program and what it needs',
    { package_type: 'pypi', identifier: 'a', version: '1.2', program: 'b', with: ['mcp<2', 'c'], args: ['--x'] },
    ['uvx', '--with', 'mcp<2', '--with', 'c', '--from', 'a==1.2', 'b', '--x'],
  ],
  ['pypi with a package it needs', { package_type: 'pypi', identifier: 'a', with: ['c'] }, ['uvx', '--with', 'c', 'a']],
  [
    'npm with a program and what it needs',
    { package_type: 'npm', identifier: '@scope/a', version: '1.2.3', program: 'b', with: ['c'], args: ['--x'] },
    ['npx', '-y', '-p', '@scope/a@1.2.3', '-p', 'c', 'b', '--x'],
  ],
  ['docker', { package_type: 'docker', identifier: 'mcp/time' }, [...dockerRun, 'mcp/time']],
  ['docker with a tag', { package_type: 'docker', identifier: 'mcp/time', version: '1', args: ['-x'] }, [...dockerRun, 'mcp/time:1', '-x']],
  ['binary', { package_type: 'binary', identifier: '/path/to/binary', args: ['a'] }, ['/path/to/binary', 'a']],
  ['binary on the path', { package_type: 'binary', identifier: 'secure-mcp-server' }, ['secure-mcp-server']],
  ['script', { package_type: 'binary', identifier: '/srv/server.js', runtime_hint: 'node' }, ['node', '/srv/server.js']],
])('[SRC-2] %s is started by its own command', async (_what, found, command) => {
  const { definition } = await register({ name: 'a', mcp: { package: found, transport: stdio } });
  expect(definition).toMatchObject({ command, transport_type: 'stdio', server_url: null });
});

test.each([
  [{ package_type: 'docker', identifier: 'mcp/time', program: 'b' }, 'mcp.package.program'],
  [{ package_type: 'http', identifier: 'x', program: 'b' }, 'mcp.package.program'],
  [{ package_type: 'npm', identifier: 'x', with: ['c'] }, 'mcp.package.with'],
  [{ package_type: 'pypi', identifier: 'x', program: 'python', args: ['-c', 'print(1)'] }, 'mcp.package'],
])('[SRC-2] the package %j is refused for its %s', async (found, field) => {
  await expect(register({ name: 'a', mcp: { package: found, transport: stdio } })).rejects.toMatchObject({ field });
});

test('[SRC-2] [SEC-2] neither a program nor a package it needs can be an option of the launcher', async () => {
  const parts = [{ program: '-c' }, { with: ['--index-url=http://evil.example'] }];
  for (const part of parts) {
    const found = { package_type: 'pypi', identifier: 'x', ...part };
    await expect(register({ name: 'a', mcp: { package: found, transport: stdio } })).rejects.toThrow(/The name of a/);
  }
});

test('[SRC-2] an http package is only connected to, and never started', async () => {
  const mcp = { package: { package_type: 'http', identifier: 'remote' }, transport: { type: 'http', url: 'https://mcp.example.com/api' } };
  const { definition, starts } = await register({ name: 'a', mcp });
  expect(starts).toBeNull();
  expect(definition).toMatchObject({ server_url: 'https://mcp.example.com/api', transport_type: 'streamable_http', command: [] });
});

test.each([
  [{ Official: { name: 'github', version: '1.0.0' } }, { official: { name: 'github', version: '1.0.0' } }],
  [{ official: { name: 'github', version: '1.0.0' } }, { official: { name: 'github', version: '1.0.0' } }],
  [{ Smithery: { qualified_name: '@a/b' } }, { smithery: { qualified_name: '@a/b' } }],
  ['Manual', 'manual'],
  [undefined, 'manual'],
])('[SRC-2] the origin %j is kept as %j', async (source, origin) => {
  const { definition } = await register({
    name: 'a',
    mcp: { package: { package_type: 'npm', identifier: 'x' }, transport: stdio, source },
  });
  expect(definition.origin).toEqual(origin);
});

test('[SRC-2] variables are values, secrets and references, and a container gets their names', async () => {
  const { definition, secrets } = await register({
    name: 'a',
    mcp: {
      package: { package_type: 'docker', identifier: 'mcp/github' },
      transport: stdio,
      env_vars: {
        LEVEL: { value: 'debug', is_secret: false },
        PIN: { value: '1234', is_secret: true },
        GITHUB_TOKEN: { secret_ref: 'github', is_secret: true, required: true },
        OPTIONAL: { is_secret: false },
      },
      config: { any: ['thing'] },
    },
  });
  expect(secrets).toEqual({ PIN: '1234' });
  expect(definition.environment).toEqual({
    LEVEL: { value: 'debug' },
    PIN: { secret_ref: secretName('PIN') },
    GITHUB_TOKEN: { secret_ref: 'github' },
  });
  expect(definition.command).toEqual([...dockerRun, '-e', 'LEVEL', '-e', 'PIN', '-e', 'GITHUB_TOKEN', 'mcp/github']);
  expect(definition.config).toEqual({ any: ['thing'] });
  expect(definition.env_definitions).toContainEqual({ name: 'GITHUB_TOKEN', description: '', required: true, secret: true });
});
