import { expect, test } from 'vitest';
import type { DefinedSource } from '../../src/model/source.ts';
import { mcpRegistrationSchema } from '../../src/sources/mcp/registration/forms.ts';
import { mergeUpdate } from '../../src/sources/mcp/registration/merge-update.ts';
import { registrationOf } from '../../src/sources/source-registrations.ts';
import { pluginDirectory, register } from './registration-fixture.ts';

const remote = { mcp_server_url: 'https://mcp.example.com/mcp' };

test.each<[string, object]>([
  ['a program', { mcp_command: ['/opt/x', '--api-key', 'S1'], mcp_args: ['a'], mcp_env_vars: { A_TOKEN: 'S2', B: 'c' }, mcp_cwd: '/srv' }],
  ['a remote server', { ...remote, url: 'https://x.example', mcp_env_vars: { API_KEY: 'S1' }, headers: { 'X-Team': 'blue' }, standby: 0 }],
  ['a remote server with a key in its address', { mcp_server_url: 'https://mcp.example.com/mcp?api_key=S1' }],
  ['one of each user', { ...remote, credential: { type: 'oauth' }, discovery_credential: { type: 'oauth' }, tools: { include: ['a*'] } }],
  ['a container that runs', { mcp_container: { container: 'tools', command: ['x', '--token', 'S1'], env: { LEVEL: 'x' }, user: 'node' } }],
  ['a container that is made', { mcp_container: { image: 'a/b', command: ['x'], limits: { memory_mb: 64 }, network: 'bridge' } }],
  ['a docker package', { mcp: { package: { package_type: 'docker', identifier: 'a/b' }, transport: { type: 'stdio' } } }],
])('[SRC-2] %s from before registrations were kept gets an equivalent one', async (_what, form) => {
  const { definition } = await register({ name: 'a', ...form });
  const known = { source_type: 'mcp', definition, namespace: 'a' } as unknown as DefinedSource;
  const given = registrationOf(known);
  expect(JSON.stringify(given)).not.toMatch(/S\d/);
  const again = await register(mergeUpdate(definition, mcpRegistrationSchema.parse({ name: 'a', ...given })), { known });
  expect(again.secrets).toEqual({});
  expect(again.definition).toEqual(definition);
});

test('[SRC-2] a plugin from before registrations were kept gets an equivalent one', async () => {
  const packages = [
    { name: 'a', transport_type: 'stdio', runtime: 'uvx', command: ['x'], environment_variables: [{ name: 'A', required: true }] },
  ];
  const directory = await pluginDirectory({ 'plugin.json': { name: 'x', packages } });
  const { definition } = await register({ name: 'a', mcp_plugin_dir: directory, mcp_env_vars: { A: '1' } });
  const known = { source_type: 'mcp', definition, namespace: 'a' } as unknown as DefinedSource;
  const again = await register(mcpRegistrationSchema.parse({ name: 'a', ...registrationOf(known) }), { known });
  expect(again.definition).toEqual(definition);
});
