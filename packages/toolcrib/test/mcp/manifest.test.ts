import { execFileSync } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseManifest, readManifest } from '../../src/sources/mcp/registration/manifest.ts';
import { dockerRun, pluginDirectory, refusalOf, register } from './registration-fixture.ts';

const own = (found: object, rest: object = {}) => ({ name: 'x', packages: [{ command: ['server'], ...found }], ...rest });

test('[SRC-7] server.json is read before plugin.json, and without either there is no manifest', async () => {
  const both = await pluginDirectory({ 'server.json': own({}, { name: 'first' }), 'plugin.json': own({}, { name: 'second' }) });
  expect(await readManifest(both)).toMatchObject({ name: 'first', path: join(both, 'server.json') });
  const one = await pluginDirectory({ 'plugin.json': own({}, { name: 'second' }) });
  expect(await readManifest(one)).toMatchObject({ name: 'second', path: join(one, 'plugin.json') });
  expect(await readManifest(await pluginDirectory({}))).toBeUndefined();
});

test.each<[string, unknown, RegExp]>([
  ['no JSON', '{', /^plugin\.json is not valid JSON/],
  ['a list', [], /^plugin\.json: /],
  ['no name', { packages: [{ command: ['x'] }] }, /^plugin\.json: name: /],
  ['no packages', { name: 'x' }, /^plugin\.json: packages: /],
  ['an empty list of packages', { name: 'x', packages: [] }, /^plugin\.json: packages: /],
  ['no command', { name: 'x', packages: [{}] }, /^plugin\.json: packages\[0\]\.command: /],
  ['a command that is a text', own({ command: 'x' }), /^plugin\.json: packages\[0\]\.command: /],
  ['an unknown runtime', own({ runtime: 'bash' }), /^plugin\.json: packages\[0\]\.runtime: /],
  ['a misspelled field', own({ enviroment_variables: [] }), /^plugin\.json: packages\[0\]: .*enviroment_variables/],
  [
    'a variable without a name',
    own({ environment_variables: [{ required: true }] }),
    /^plugin\.json: packages\[0\]\.environment_variables\[0\]\.name: /,
  ],
  ['a reference to a secret', own({ command: ['server', '${ADMIN_TOKEN}'] }), /^plugin\.json: packages\[0\]\.command\[1\]: .*cannot refer/],
  ['a changed prototype', '{"name": "x", "__proto__": {"packages": []}}', /^plugin\.json is not valid JSON: __proto__/],
  ['deep nesting', `{"name": "x", "y": ${'['.repeat(1000)}${']'.repeat(1000)}}`, /nested more than/],
  ['a file that is too large', JSON.stringify(own({}, { y: 'y'.repeat(1024 * 1024) })), /too large: a manifest has at most/],
])('[SRC-7] a manifest with %s is refused, and file and field are named', async (_what, content, message) => {
  const directory = await pluginDirectory({ 'plugin.json': content });
  const refused = await refusalOf(readManifest(directory));
  expect(refused).toEqual({ code: 'VALIDATION_ERROR', field: 'mcp_plugin_dir', message: expect.stringMatching(message) });
});

test('[SRC-7] a manifest may have comments, a byte order mark and fields that we do not read', () => {
  const text = `\uFEFF{ // mine\n "name": "x", "author": {"name": "me"}, "description": "costs \${5}", "packages": [{"command": ["a",],},], /* end */ }`;
  expect(parseManifest(text, { path: '/x/plugin.json', name: 'plugin.json' })).toMatchObject({ name: 'x', packages: [{ command: ['a'] }] });
});

test('[SRC-7] a manifest that is a link out of the directory, a directory or a pipe is refused', async () => {
  const outside = await pluginDirectory({ 'secret.json': own({}) });
  const linked = await pluginDirectory({});
  await symlink(join(outside, 'secret.json'), join(linked, 'server.json'));
  expect((await refusalOf(readManifest(linked))).message).toContain('is a link to a file outside the plugin directory');

  const folder = await pluginDirectory({});
  await mkdir(join(folder, 'server.json'));
  expect(await refusalOf(readManifest(folder))).toMatchObject({ message: expect.stringContaining('not a file') });

  const piped = await pluginDirectory({});
  execFileSync('mkfifo', [join(piped, 'server.json')]);
  expect(await refusalOf(readManifest(piped))).toMatchObject({ message: expect.stringContaining('not a file') });

  const circle = await pluginDirectory({});
  await symlink('server.json', join(circle, 'server.json'));
  expect(await refusalOf(readManifest(circle))).toMatchObject({ message: expect.stringContaining('cannot be read') });
});

test('[SRC-7] a link inside the directory, and a directory that is a link itself, are followed', async () => {
  const directory = await pluginDirectory({ 'real.json': own({}) });
  await symlink('real.json', join(directory, 'server.json'));
  const link = join(await pluginDirectory({}), 'link');
  await symlink(directory, link);
  expect(await readManifest(link)).toMatchObject({ path: join(link, 'server.json') });
});

test('[SRC-7] scripts and programs of a plugin are started by their absolute paths', async () => {
  const files = { 'server.js': '', 'src/server.py': '', 'bin/server': '' };
  const commandOf = async (found: object): Promise<string[]> => {
    const directory = await pluginDirectory({ ...files, 'plugin.json': own(found) });
    const { definition } = await register({ name: 'a', mcp_plugin_dir: directory });
    return definition.command.map((part) => part.replace(directory, 'DIR'));
  };
  const python = process.platform === 'win32' ? 'python' : 'python3';
  expect(await commandOf({ runtime: 'node', command: ['server.js', '--x'] })).toEqual(['node', 'DIR/server.js', '--x']);
  expect(await commandOf({ runtime: 'node', command: ['node', '--no-warnings', './server.js'] })).toEqual([
    'node',
    '--no-warnings',
    'DIR/server.js',
  ]);
  expect(await commandOf({ command: ['server.js'] })).toEqual(['node', 'DIR/server.js']);
  expect(await commandOf({ runtime: 'python', command: ['src/server.py'] })).toEqual([python, 'DIR/src/server.py']);
  expect(await commandOf({ runtime: 'python', command: ['-m', 'server'] })).toEqual([python, '-m', 'server']);
  expect(await commandOf({ command: ['bin/server', 'x'] })).toEqual(['DIR/bin/server', 'x']);
  expect(await commandOf({ command: ['./bin/server'] })).toEqual(['DIR/bin/server']);
  expect(await commandOf({ command: ['on-the-path'] })).toEqual(['on-the-path']);
  expect(await commandOf({ runtime: 'npx', command: ['-y', '@a/b'] })).toEqual(['npx', '-y', '@a/b']);
  expect(await commandOf({ runtime: 'docker', command: ['mcp/x'] })).toEqual([...dockerRun, 'mcp/x']);
});

test.each<[string, object, RegExp]>([
  ['a script outside', { runtime: 'node', command: ['../other/server.js'] }, /is outside the plugin directory/],
  ['a script outside by a detour', { runtime: 'node', command: ['bin/../../server.js'] }, /is outside the plugin directory/],
  ['a script behind a link', { runtime: 'node', command: ['link/server.js'] }, /is a link to a file outside/],
  ['a program outside', { command: ['../server'] }, /is outside the plugin directory/],
  ['a script that is not there', { runtime: 'node', command: ['missing.js'] }, /does not exist/],
  ['an absolute program that is not there', { command: ['/no/such/program'] }, /does not exist/],
  ['a shell', { command: ['sh', '-c', 'evil'] }, /a shell is not a server/],
  ['inline code', { runtime: 'node', command: ['-e', 'evil'] }, /code on the command line/],
  ['a package that is an address', { runtime: 'npx', command: ['https://evil.example/x.tgz'] }, /not the name of a package on npm/],
])('[SRC-7] a plugin with %s is refused', async (_what, found, message) => {
  const outside = await pluginDirectory({ 'server.js': '' });
  const directory = await pluginDirectory({ 'plugin.json': own(found), 'bin/x': '' });
  await symlink(outside, join(directory, 'link'));
  expect(await refusalOf(register({ name: 'a', mcp_plugin_dir: directory }))).toMatchObject({
    field: 'mcp_plugin_dir',
    message: expect.stringMatching(message),
  });
});

test('[SRC-7] [SRC-10] [MC-NT4] a variable that the manifest requires must have a value, secret or not', async () => {
  const environment_variables = [{ name: 'REGION', required: true }, { name: 'CODE', required: true, secret: true }, { name: 'OPTIONAL' }];
  const directory = await pluginDirectory({ 'plugin.json': own({ environment_variables }) });
  const body = { name: 'a', mcp_plugin_dir: directory };
  expect(await refusalOf(register(body))).toEqual({
    code: 'VALIDATION_ERROR',
    message: 'Missing required credentials',
    field: 'mcp_env_vars.REGION',
  });
  expect(await refusalOf(register({ ...body, mcp_env_vars: { REGION: 'eu', CODE: '' } }))).toMatchObject({ field: 'mcp_env_vars.CODE' });
  const { definition, secrets } = await register({ ...body, mcp_env_vars: { REGION: 'eu', CODE: '1234', EXTRA: 'x' } });
  expect(secrets).toEqual({ CODE: '1234' });
  expect(Object.keys(definition.environment)).toEqual(['REGION', 'CODE', 'EXTRA']);
  expect((await register(body, { preview: true })).missing).toEqual(['mcp_env_vars.REGION', 'mcp_env_vars.CODE']);
});

test('[SRC-7] [ENV-6] a manifest cannot declare a variable that changes which code runs', async () => {
  const directory = await pluginDirectory({ 'plugin.json': own({ environment_variables: [{ name: 'LD_PRELOAD' }] }) });
  expect(await refusalOf(register({ name: 'a', mcp_plugin_dir: directory }))).toMatchObject({ field: 'mcp_env_vars.LD_PRELOAD' });
});

test('[SRC-7] the transport of a manifest is used unless the registration says another', async () => {
  const directory = await pluginDirectory({ 'plugin.json': own({ transport_type: 'sse' }) });
  const body = { name: 'a', mcp_plugin_dir: directory };
  expect((await register(body)).definition.transport_type).toBe('sse');
  expect((await register({ ...body, mcp_transport_type: 'stdio' })).definition.transport_type).toBe('stdio');
});
