import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRunRules } from '../../src/cli/run-rules-file.ts';
import { temporaryDirectory } from '../running-server.ts';
import { runToolcrib } from './run-toolcrib.ts';

async function read(text: string) {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, 'rules.yaml');
  await writeFile(file, text);
  return await readRunRules(file);
}

test('[SEC-2] the example in the documentation is a valid rules file', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../../docs/running.md'), 'utf8');
  const [, example = ''] = /## What may run here[^]*?```yaml\n([^]*?)```/.exec(page) ?? [];
  expect(await read(example)).toMatchObject({
    runtimes: ['npx', 'uvx', 'node', 'python', 'docker', 'program'],
    limits: { memory_mb: { usual: 512, most: 2048 }, processes: 64 },
    user: '1500:1500',
  });
});

test('[SEC-2] a file that names only runtimes allows nothing else', async () => {
  expect(await read('runtimes: [npx]')).toEqual({
    runtimes: ['npx'],
    packages: [],
    images: [],
    require_digest: false,
    containers: [],
    programs: [],
    modules: [],
    variables: [],
    limits: {},
    same_user: false,
  });
});

test.each<[what: string, text: string, message: string]>([
  ['is empty', '', 'line 1: runtimes: Invalid input'],
  ['is not YAML', 'runtimes: [', 'line 1: Flow sequence'],
  ['says something twice', 'runtimes: []\nruntimes: []', 'line 2: the field runtimes is repeated'],
  ['has a field that there is none of', 'runtimes: []\nprogram: [/a]', 'line 2: program: there is no such field'],
  ['has one inside', 'runtimes: []\nlimits:\n  memory: 5', 'line 3: limits.memory: there is no such field'],
  ['names a runtime that there is none of', 'runtimes: [npx, sh]', 'line 1: runtimes.1: Invalid option'],
  ['names no runtime', 'programs: [/opt/x]', 'line 1: runtimes: '],
  [
    'has a package without its registry',
    'runtimes: [npx]\npackages:\n  - npm:ok\n  - cowsay',
    'line 4: packages.1: A package is written like',
  ],
  ['has a version rule that is none', 'runtimes: [npx]\npackages: ["npm:x@latest"]', 'line 2: packages.0: A package is written like'],
  ['has a relative path', 'runtimes: [program]\nprograms: [bin/x]', 'line 2: programs.0: A program is named by its absolute path'],
  ['has every path', 'runtimes: [program]\nprograms: ["/**"]', 'line 2: programs.0: A program is named'],
  ['has a way out of a path', 'runtimes: [program]\nprograms: [/opt/../etc/x]', 'line 2: programs.0: A path is written without ..'],
  [
    'has less than usual for the most',
    'runtimes: []\nlimits:\n  processes: {usual: 5, most: 4}',
    'line 3: limits.processes: usual is more than most',
  ],
  ['names a user, and the same one', 'runtimes: []\nuser: nobody\nsame_user: true', 'line 3: same_user: With a user of their own'],
  ['has a user that is none', 'runtimes: []\nuser: "a b"', 'line 2: user: A user is a name, or uid:gid'],
])('[SEC-2] a file that %s is refused with its line', async (_what, text, message) => {
  await expect(read(text)).rejects.toThrow(message);
});

test('[SEC-2] a small file cannot expand into a large one', async () => {
  const levels = Array.from({ length: 12 }, (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level}, `.repeat(9)}*l${level}]`);
  await expect(read(`runtimes: []\nl0: &l0 [x]\n${levels.join('\n')}`)).rejects.toThrow('cannot be used');
});

test('[SEC-2] the server does not start with rules it cannot read', async () => {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, 'rules.yaml');
  await writeFile(file, 'runtimes: [sh]');
  const { code, stderr } = await runToolcrib(['serve', '--port', '0', '--data', join(folder.path, 'data'), '--run-rules', file]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('line 1: runtimes.0')]);
});

test('[SEC-2] doctor says what may run', async () => {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, 'rules.yaml');
  await writeFile(file, 'runtimes: [npx, docker]\npackages: ["npm:@acme/*"]\nimages: [mcp/*, x]\nlimits: {processes: 5}');
  const data = ['--data', join(folder.path, 'data'), '--port', '0', '--json'];
  const checks = async (args: string[]) => {
    const { stdout } = await runToolcrib(['doctor', ...data, ...args]);
    return (JSON.parse(stdout) as { checks: { name: string; state: string; detail: string }[] }).checks;
  };
  const told = await checks(['--run-rules', file]);
  expect(told).toContainEqual(
    expect.objectContaining({ name: 'run rules', state: 'ok', detail: 'npx, docker may run: 1 package, 2 images' }),
  );
  expect(told).toContainEqual(expect.objectContaining({ name: 'limits', detail: expect.stringContaining('processes') }));
  expect(await checks([])).toContainEqual(
    expect.objectContaining({ name: 'run rules', detail: expect.stringContaining('in development') }),
  );
  const production = await checks(['--issuer', 'http://127.0.0.1:9/realms/none']);
  expect(production).toContainEqual(expect.objectContaining({ name: 'run rules', state: 'missing' }));
  const users = async (rules: string, ...args: string[]) => {
    await writeFile(file, rules);
    return (await checks(['--run-rules', file, ...args])).filter(({ name }) => name === 'user of servers').map(({ detail }) => detail);
  };
  const issuer = ['--issuer', 'http://127.0.0.1:9/realms/none'];
  expect(await users('runtimes: [npx]')).toEqual([]);
  expect(await users('runtimes: [npx]', ...issuer)).toEqual([expect.stringContaining('local servers outside of containers are refused')]);
  expect(await users('runtimes: [npx]\nsame_user: true', ...issuer)).toEqual([expect.stringContaining('can read its keys')]);
});
