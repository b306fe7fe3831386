import { expect, test } from 'vitest';
import { dockerRun, refusalOf, register, secretName } from './registration-fixture.ts';

/** As serde writes the `McpConfig` of the original documents. */
const mcpConfig = {
  id: '6f1c7a52-9f0e-4c53-8f5e-2b1d9b0f7a11',
  name: 'GitHub',
  enabled: true,
  source: { Official: { name: 'io.github/github', version: '1.0.0' } },
  package: { package_type: 'Npm', identifier: '@scope/package', runtime_hint: null },
  transport: 'Stdio',
  env_vars: {
    LEVEL: { name: 'LEVEL', value: 'debug', secret_ref: null, is_secret: false },
    GITHUB_TOKEN: { name: 'GITHUB_TOKEN', value: null, secret_ref: 'github', is_secret: true },
    PIN: { name: 'PIN', value: '1234', secret_ref: null, is_secret: true },
    OPTIONAL: { name: 'OPTIONAL', value: null, secret_ref: null, is_secret: false },
  },
  config: { any: ['thing'] },
};

test('[SRC-2] an McpConfig is registered unchanged', async () => {
  const { name, enabled, definition, secrets } = await register(mcpConfig);
  expect({ name, enabled, secrets }).toEqual({ name: 'GitHub', enabled: true, secrets: { PIN: '1234' } });
  expect(definition).toMatchObject({
    command: ['npx', '-y', '@scope/package'],
    transport_type: 'stdio',
    origin: { official: { name: 'io.github/github', version: '1.0.0' } },
    environment: { LEVEL: { value: 'debug' }, GITHUB_TOKEN: { secret_ref: 'github' }, PIN: { secret_ref: secretName('PIN') } },
    config: { any: ['thing'] },
  });
});

test.each([
  ['Npm', 'Stdio', { command: ['npx', '-y', 'x'] }],
  ['Pypi', 'stdio', { command: ['uvx', 'x'] }],
  ['Docker', { type: 'stdio' }, { command: [...dockerRun, 'x'] }],
  ['Binary', 'Stdio', { command: ['x'] }],
  ['Http', { Http: { url: 'https://mcp.example.com/api' } }, { command: [], server_url: 'https://mcp.example.com/api' }],
  ['http', { http: { url: 'https://mcp.example.com/api' } }, { command: [], server_url: 'https://mcp.example.com/api' }],
])('[SRC-2] a package of the type %s over %j is accepted under mcp and at the top', async (package_type, transport, expected) => {
  const described = { package: { package_type, identifier: 'x' }, transport };
  const { definition } = await register({ name: 'a', ...described });
  expect(definition).toMatchObject(expected);
  expect((await register({ name: 'a', mcp: described })).definition).toEqual(definition);
});

const described = { package: { package_type: 'npm', identifier: 'x' }, transport: 'Stdio' };

test.each([
  ['their values', { A: 'b', TOKEN: 't' }],
  ['objects', { A: { value: 'b' }, TOKEN: { value: 't', is_secret: true } }],
  [
    'a list',
    [
      { name: 'A', value: 'b' },
      { name: 'TOKEN', value: 't', secret_ref: null },
    ],
  ],
])('[SRC-2] variables can be given as %s', async (_what, env_vars) => {
  const { definition, secrets } = await register({ name: 'a', ...described, env_vars });
  expect(definition.environment).toEqual({ A: { value: 'b' }, TOKEN: { secret_ref: secretName('TOKEN') } });
  expect(secrets).toEqual({ TOKEN: 't' });
});

test('[SRC-1] [SRC-2] null means the same as absent', async () => {
  const plain = await register({ name: 'a', ...described });
  const nulls = { mcp: null, mcp_server_url: null, mcp_env_vars: null, headers: null, credential: null, namespace: null, tools: null };
  const inside = { source: null, env_vars: null, config: null, package: { ...described.package, version: null, args: null } };
  expect(await register({ name: 'a', ...described, ...nulls, ...inside })).toEqual(plain);
});

test('[SRC-2] a package is started in the given folder', async () => {
  expect((await register({ name: 'a', ...described, mcp_cwd: '/srv' })).definition.cwd).toBe('/srv');
  expect((await register({ name: 'a', mcp: described, mcp_cwd: '/srv' })).definition.cwd).toBe('/srv');
});

test.each<[string, object, string, string | RegExp]>([
  ['no package', { package: null }, 'package.identifier', 'Package identifier required'],
  ['no identifier', { package: { package_type: 'Npm', identifier: null } }, 'package.identifier', 'Package identifier required'],
  ['no transport', { transport: null }, 'transport', 'Transport required'],
  ['a required variable', { env_vars: { A: { required: true, value: null } } }, 'env_vars.A', 'Missing required credentials'],
  ['another name', { env_vars: { A: { name: 'B', value: 'x' } } }, 'env_vars.A.name', /must be the same/],
  ['a value and a reference', { env_vars: { A: { value: 'x', secret_ref: 'y' } } }, 'env_vars.A', /not both/],
  [
    'a variable twice',
    {
      env_vars: [
        { name: 'A', value: 'x' },
        { name: 'A', value: 'y' },
      ],
    },
    'env_vars.A',
    /twice/,
  ],
  ['the same under mcp', { mcp: described }, 'package', /mcp\.package describe the same thing twice/],
  ['an address too', { mcp_server_url: 'https://mcp.example.com' }, 'mcp_server_url', /and package describe the same thing twice/],
  ['a folder for a container', { package: { package_type: 'Docker', identifier: 'x' }, mcp_cwd: '/srv' }, 'mcp_cwd', /workdir/],
  [
    'a folder for what runs elsewhere',
    { package: { package_type: 'Http', identifier: 'x' }, transport: { Http: { url: 'https://x.example' } }, mcp_cwd: '/srv' },
    'mcp_cwd',
    /take it out/,
  ],
])('[SRC-10] [MC-NT4] an McpConfig with %s is refused', async (_what, body, field, message) => {
  const refusal = await refusalOf(register({ name: 'a', ...described, ...body }));
  expect(refusal).toMatchObject({ code: 'VALIDATION_ERROR', field });
  expect(refusal.message).toMatch(message);
});
