import { expect, test } from 'vitest';
import type { McpRegistrationContext } from '../../src/sources/mcp/registration/mcp-registration-context.ts';
import { dockerRun, pluginDirectory, refusalOf, register, secretName } from './registration-fixture.ts';

async function registerManifest(manifest: object, body: object = {}, context: Partial<McpRegistrationContext> = {}) {
  const directory = await pluginDirectory({
    'server.json': { name: 'io.github.owner/server', description: '', version: '1.0.0', ...manifest },
  });
  return register({ name: 'a', mcp_plugin_dir: directory, ...body }, context);
}

const npm = { registryType: 'npm', identifier: '@owner/server', version: '1.0.2', transport: { type: 'stdio' } };
const pypi = { registryType: 'pypi', identifier: 'weather-mcp', version: '0.5.0', runtimeHint: 'uvx', transport: { type: 'stdio' } };
const oci = { registryType: 'oci', identifier: 'ghcr.io/owner/server', version: '1.0.2', transport: { type: 'stdio' } };

test.each<[string, object, string[]]>([
  ['npm', npm, ['npx', '-y', '@owner/server@1.0.2']],
  ['pypi', pypi, ['uvx', 'weather-mcp@0.5.0']],
  ['an image', oci, [...dockerRun, 'ghcr.io/owner/server:1.0.2']],
  ['an image with its tag', { ...oci, identifier: 'ghcr.io/owner/server:2', version: undefined }, [...dockerRun, 'ghcr.io/owner/server:2']],
  [
    'fixed arguments',
    {
      ...npm,
      runtimeArguments: [{ type: 'named', name: '-y' }],
      packageArguments: [
        { type: 'positional', value: 'mcp' },
        { type: 'named', name: '--stdio' },
        { type: 'named', name: '--mode', value: 'local' },
        { type: 'named', name: '-p', value: '1' },
      ],
    },
    ['npx', '-y', '@owner/server@1.0.2', 'mcp', '--stdio', '--mode=local', '-p', '1'],
  ],
  [
    'defaults',
    {
      ...npm,
      packageArguments: [
        { type: 'named', name: '--host', default: 'localhost', isRequired: true },
        { type: 'named', name: '--port', description: 'A port', format: 'number' },
      ],
    },
    ['npx', '-y', '@owner/server@1.0.2', '--host=localhost'],
  ],
  [
    'arguments of docker',
    {
      ...oci,
      runtimeArguments: [
        { type: 'positional', value: 'run' },
        { type: 'named', name: '--rm' },
        { type: 'named', name: '--memory', value: '1g' },
      ],
    },
    ['docker', 'run', '-i', '--init', '--memory-swap', '1g', ...dockerRun.slice(9), '--rm', '--memory=1g', 'ghcr.io/owner/server:1.0.2'],
  ],
])("[SRC-7] the public registry's %s gives its command", async (_what, found, command) => {
  expect((await registerManifest({ packages: [found] })).definition.command).toEqual(command);
});

test('[SRC-7] configuration fills the slots that the manifest declares, and nothing else', async () => {
  const packages = [
    {
      ...oci,
      runtimeArguments: [
        {
          type: 'named',
          name: '--mount',
          value: 'type=bind,src={source_path},dst={target_path}',
          isRequired: true,
          variables: { source_path: { isRequired: true, format: 'filepath' }, target_path: { isRequired: true, default: '/project' } },
        },
      ],
      packageArguments: [
        { type: 'positional', valueHint: 'target_dir', isRequired: true },
        { type: 'named', name: '--level', choices: ['low', 'high'] },
        { type: 'named', name: '--license', isSecret: true },
      ],
    },
  ];
  const mcp_config = { source_path: '/srv/x', target_dir: 'x{source_path}', level: 'high', license: 'S1', other: '--privileged' };
  const { definition, secrets } = await registerManifest({ packages }, { mcp_config }, { allowedMounts: ['/srv/x'] });
  const behind = ['x{source_path}', '--level=high', '--license=${CONFIG_LICENSE}'];
  const mount = '--mount=type=bind,src=/srv/x,dst=/project';
  expect(definition.command).toEqual([...dockerRun, mount, 'ghcr.io/owner/server:1.0.2', ...behind]);
  expect(secrets).toEqual({ CONFIG_LICENSE: 'S1' });
  expect(definition.config).toEqual({ ...mcp_config, license: '${CONFIG_LICENSE}' });

  expect(
    await refusalOf(registerManifest({ packages }, { mcp_config: { source_path: '/srv/x' } }, { allowedMounts: ['/srv'] })),
  ).toMatchObject({
    field: 'mcp_config.target_dir',
    message: 'Missing required credentials',
  });
  expect(await refusalOf(registerManifest({ packages }, { mcp_config: { target_dir: 'x' } }))).toMatchObject({
    field: 'mcp_config.source_path',
  });
  expect(await refusalOf(registerManifest({ packages }, { mcp_config: { ...mcp_config, level: 'mid' } }))).toMatchObject({
    field: 'mcp_config.level',
  });
  expect(await refusalOf(registerManifest({ packages }, { mcp_config: { ...mcp_config, source_path: '/' } }))).toMatchObject({
    message: expect.stringContaining('Mounting "/" is refused'),
  });
});

test('[SRC-7] variables have defaults, fixed values, choices and requirements', async () => {
  const environmentVariables = [
    { name: 'WEATHER_CODE', description: 'For the service', isRequired: true, isSecret: true },
    { name: 'WEATHER_UNITS', default: 'celsius', choices: ['celsius', 'fahrenheit'] },
    { name: 'ENDPOINT', value: 'https://{host}/v1', variables: { host: { default: 'weather.example.com' } } },
    { name: 'OPTIONAL' },
  ];
  const manifest = { packages: [{ ...pypi, environmentVariables }] };
  const { definition, secrets } = await registerManifest(manifest, { mcp_env_vars: { WEATHER_CODE: 'S1' } });
  expect(secrets).toEqual({ WEATHER_CODE: 'S1' });
  expect(definition.environment).toEqual({
    WEATHER_CODE: { secret_ref: secretName('WEATHER_CODE') },
    WEATHER_UNITS: { value: 'celsius' },
    ENDPOINT: { value: 'https://weather.example.com/v1' },
  });
  expect(definition.env_definitions[0]).toEqual({ name: 'WEATHER_CODE', description: 'For the service', required: true, secret: true });
  expect(await refusalOf(registerManifest(manifest))).toMatchObject({
    field: 'mcp_env_vars.WEATHER_CODE',
    message: 'Missing required credentials',
  });
  expect(await refusalOf(registerManifest(manifest, { mcp_env_vars: { WEATHER_CODE: 'x', WEATHER_UNITS: 'kelvin' } }))).toMatchObject({
    field: 'mcp_env_vars.WEATHER_UNITS',
  });
  const configured = await registerManifest(manifest, { mcp_config: { WEATHER_CODE: 'S2', host: 'x.example.com' } });
  expect(configured.secrets).toEqual({ WEATHER_CODE: 'S2' });
  expect(configured.definition.environment['ENDPOINT']).toEqual({ value: 'https://x.example.com/v1' });
  expect(JSON.stringify(configured.definition)).not.toContain('S2');
});

test("[SRC-7] a container gets the names of the manifest's variables", async () => {
  const { definition } = await registerManifest({ packages: [{ ...oci, environmentVariables: [{ name: 'LEVEL', default: 'info' }] }] });
  expect(definition.command).toEqual([...dockerRun, '-e', 'LEVEL', 'ghcr.io/owner/server:1.0.2']);
});

test('[SRC-7] the old field names of the registry are read too', async () => {
  const packages = [
    {
      registry_type: 'npm',
      identifier: '@modelcontextprotocol/server-brave-search',
      version: '1.0.2',
      package_arguments: [{ type: 'positional', value_hint: 'target_dir', default: '/data', is_required: true }],
      environment_variables: [{ name: 'BRAVE_API_KEY', is_required: true, is_secret: true }],
    },
  ];
  const { definition } = await registerManifest(
    { packages, version_detail: { version: '1.0.2' } },
    { mcp_env_vars: { BRAVE_API_KEY: 'x' } },
  );
  expect(definition.command).toEqual(['npx', '-y', '@modelcontextprotocol/server-brave-search@1.0.2', '/data']);
  expect(definition.env_definitions).toMatchObject([{ name: 'BRAVE_API_KEY', required: true, secret: true }]);
});

test('[SRC-7] the first package that can be started here is chosen, and never a bundle', async () => {
  const bundle = {
    registryType: 'mcpb',
    identifier: 'https://example.com/x.mcpb',
    fileSha256: 'a'.repeat(64),
    transport: { type: 'stdio' },
  };
  const http = { ...npm, transport: { type: 'streamable-http', url: 'http://localhost:{port}/mcp' } };
  expect((await registerManifest({ packages: [bundle, http, pypi] })).definition.runtime_hint).toBe('uvx');
  expect(await refusalOf(registerManifest({ packages: [bundle] }))).toMatchObject({
    field: 'mcp_plugin_dir',
    message: 'The manifest cannot be used: packages[0].registryType: "mcpb" packages cannot be started here',
  });
});

const remotes = [
  {
    type: 'streamable-http',
    url: 'https://{tenant}.example.com/mcp',
    variables: { tenant: { isRequired: true } },
    headers: [
      { name: 'X-API-Key', isRequired: true, isSecret: true },
      { name: 'X-Region', default: 'eu' },
      { name: 'Authorization', value: 'Bearer {token}', variables: { token: { isSecret: true } } },
    ],
  },
  { type: 'sse', url: 'https://old.example.com/sse' },
];

test('[SRC-7] a manifest with remote servers only gives a remote source', async () => {
  const { definition, secrets, starts } = await registerManifest(
    { remotes },
    { mcp_config: { tenant: 'acme', token: 'S1' }, mcp_env_vars: { API_KEY: 'S2' } },
  );
  expect(starts).toBeNull();
  expect(definition).toMatchObject({
    server_url: 'https://acme.example.com/mcp',
    transport_type: 'streamable_http',
    command: [],
    headers: { 'X-Region': { value: 'eu' }, Authorization: { value: 'Bearer ${CONFIG_TOKEN}' } },
  });
  expect(secrets).toEqual({ API_KEY: 'S2', CONFIG_TOKEN: 'S1' });
  expect(JSON.stringify(definition)).not.toMatch(/S\d/);
});

test('[SRC-7] [ENV-4] a header that a manifest calls secret is one, even if it is given as a variable', async () => {
  const declared = [{ type: 'streamable-http', url: 'https://a.example/mcp', headers: [{ name: 'X-Pin', isSecret: true }] }];
  const { definition, secrets } = await registerManifest(
    { remotes: declared },
    { mcp_env_vars: { MCP_HEADER_X_PIN: '1234', MCP_HEADER_LEVEL: 'a' } },
  );
  expect(secrets).toEqual({ MCP_HEADER_X_PIN: '1234' });
  expect(definition.environment).toEqual({
    MCP_HEADER_X_PIN: { secret_ref: secretName('MCP_HEADER_X_PIN') },
    MCP_HEADER_LEVEL: { value: 'a' },
  });
});

test('[SRC-7] [SRC-10] a variable that a remote server requires must be given', async () => {
  const mcp_config = { tenant: 'acme' };
  expect(await refusalOf(registerManifest({ remotes }, { mcp_config }))).toMatchObject({
    field: 'headers.X-API-Key',
    message: 'Missing required credentials',
  });
  expect(await refusalOf(registerManifest({ remotes }, { headers: { 'x-api-key': 'a' } }))).toMatchObject({
    field: 'mcp_config.tenant',
    message: 'Missing required credentials',
  });
  const { definition } = await registerManifest({ remotes }, { mcp_config, headers: { 'x-api-key': 'a', 'X-Region': 'us' } });
  expect(definition.headers).toMatchObject({ 'x-api-key': { secret_ref: secretName('header.x-api-key') }, 'X-Region': { value: 'us' } });
  expect((await registerManifest({ remotes }, { mcp_transport_type: 'sse' })).definition).toMatchObject({
    server_url: 'https://old.example.com/sse',
    transport_type: 'sse',
  });
});

test.each<[string, object, string]>([
  ['a package without an identifier', { packages: [{ registryType: 'npm' }] }, 'packages[0].identifier'],
  ['an argument of no kind', { packages: [{ ...npm, packageArguments: [{ value: 'x' }] }] }, 'packages[0].packageArguments[0].type'],
  ['a remote server without an address', { remotes: [{ type: 'sse' }] }, 'remotes[0].url'],
  [
    'a reference to a secret',
    { packages: [{ ...npm, environmentVariables: [{ name: 'A', default: '${ADMIN_TOKEN}' }] }] },
    'packages[0].environmentVariables[0].default',
  ],
  ['an address that reads a secret', { remotes: [{ type: 'sse', url: 'https://evil.example/?x=${ADMIN_TOKEN}' }] }, 'remotes[0].url'],
])("[SRC-7] the public registry's form with %s is refused, and the field is named", async (_what, manifest, field) => {
  expect((await refusalOf(registerManifest(manifest))).message).toContain(`server.json: ${field}: `);
});

test.each<[string, object]>([
  ['an identifier that is an option', { packages: [{ ...npm, identifier: '--call=evil' }] }],
  ['an identifier that is an address', { packages: [{ ...npm, identifier: 'https://evil.example/x.tgz' }] }],
  ['an identifier of another kind', { packages: [{ ...npm, identifier: 'github:evil/x', version: undefined }] }],
  ['a runtime argument that runs code', { packages: [{ ...npm, runtimeArguments: [{ type: 'named', name: '--call', value: 'evil' }] }] }],
  ['a container with a way out', { packages: [{ ...oci, runtimeArguments: [{ type: 'named', name: '--network', value: 'host' }] }] }],
  ['a privileged container', { packages: [{ ...oci, runtimeArguments: [{ type: 'named', name: '--privileged' }] }] }],
  ['a remote server over plain http', { remotes: [{ type: 'sse', url: 'http://evil.example/sse' }] }],
])('[SRC-7] [SEC-2] a manifest with %s is refused', async (_what, manifest) => {
  expect(await refusalOf(registerManifest(manifest))).toMatchObject({ code: 'VALIDATION_ERROR' });
});
