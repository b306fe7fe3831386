import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { rmSync } from 'node:fs';
import { mcpDefinitionSchema } from '../../src/sources/mcp/mcp-definition.ts';
import { runRulesSchema, type RunRules } from '../../src/model/run-rules.ts';
import { createResourceWatch } from '../../src/sources/mcp/process/resource-watch.ts';
import { createRunGate } from '../../src/sources/mcp/run/run-gate.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-gate-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Programs of the test's own, so that what is on the path is the same everywhere. */
const bin = join(folder, 'bin');
const opt = join(folder, 'opt');
mkdirSync(bin);
mkdirSync(join(opt, 'venv/bin'), { recursive: true });
for (const name of ['npx', 'uvx', 'uv', 'node', 'python3', 'docker', 'other-tool'])
  writeFileSync(join(bin, name), '#!/bin/true\n', { mode: 0o755 });
for (const file of ['server', 'server.js', 'hook.mjs']) writeFileSync(join(opt, file), '#!/bin/true\n', { mode: 0o755 });
writeFileSync(join(folder, 'evil'), '#!/bin/true\n', { mode: 0o755 });
writeFileSync(join(folder, 'evil.js'), '');
symlinkSync(join(folder, 'evil'), join(opt, 'link'));
symlinkSync(join(opt, 'server'), join(bin, 'acme-server'));
symlinkSync(join(bin, 'python3'), join(folder, 'python3'));
symlinkSync(join(bin, 'python3'), join(opt, 'venv/bin/python3'));

const digest = `sha256:${'a'.repeat(64)}`;

function gateOf(rules: Partial<RunRules> | 'nothing' | undefined, { path = bin, sameUser = true } = {}) {
  const parsed = rules === undefined || rules === 'nothing' ? rules : runRulesSchema.parse({ runtimes: [], ...rules });
  return createRunGate({ rules: parsed, allowedMounts: [], account: null, sameUser, watch: createResourceWatch(), path });
}

const definition = (given: object) => mcpDefinitionSchema.parse(given);
const nothing = { base: {}, given: {} };

/** What may run under all of the rules below. */
const rules: Partial<RunRules> = {
  runtimes: ['npx', 'uvx', 'node', 'python', 'docker', 'program'],
  packages: ['npm:@acme/*@^1.2', 'npm:free', 'npm:pinned@*', 'npm:tsx', 'pypi:mcp-server-*==2026.*', 'pypi:any.thing'],
  images: ['ghcr.io/acme/*:1.*', 'mcp/time', `exact@${digest}`],
  containers: ['tools-*'],
  programs: [`${opt}/**`],
  modules: ['mcp_server_*', 'tsx'],
  variables: ['PYTHONPATH', 'ACME_*'],
};

describe('a file of rules', () => {
  test.each<[what: string, definition: object]>([
    ['a package in its range', { command: ['npx', '-y', '@acme/server@1.3.0', '--any', 'argument'] }],
    ['one of which the version does not matter', { command: ['npx', '-y', 'free'] }],
    ['one of which any exact version will do', { command: ['npx', 'pinned@9.9.9'] }],
    ['a package and the program in it', { command: ['npx', '-p', '@acme/server@1.2.0', 'acme-cli'] }],
    ['a Python package, by another spelling of its name', { command: ['uvx', 'MCP_Server_Time==2026.1.2'] }],
    ['the same behind an at sign', { command: ['uvx', 'mcp-server-time@2026.1'] }],
    ['a program of it', { command: ['uvx', '--from', 'mcp-server-time==2026.1', 'time-of-day'] }],
    ['with another beside it', { command: ['uvx', '--with', 'any-thing', 'mcp-server-time@2026.1'] }],
    ['uv tool run', { command: ['uv', 'tool', 'run', 'mcp-server-time==2026.1'] }],
    ['an image with its tag', { command: ['docker', 'run', '-i', 'ghcr.io/acme/tool:1.7'] }],
    ['an image of any tag', { command: ['docker', 'run', '-i', 'docker.io/mcp/time'] }],
    ['an image by its digest', { command: ['docker', 'run', '-i', `exact@${digest}`] }],
    ['a script', { command: ['node', join(opt, 'server.js')] }],
    ['a script by its name in the folder it starts in', { command: ['node', 'server.js'], cwd: opt }],
    ['a script with what is loaded before it', { command: ['node', '--import', './hook.mjs', '--import', 'tsx', 'server.js'], cwd: opt }],
    ['a module', { command: ['python3', '-m', 'mcp_server_time'] }],
    ['an environment of its own', { command: [join(opt, 'venv/bin/python3'), '-m', 'mcp_server_time'] }],
    ['a program', { command: [join(opt, 'server'), '-c', '$(anything); `at` | all'] }],
    ['a program on the path, which is a link to an allowed one', { command: ['acme-server'] }],
    ['a project', { command: ['uv', '--directory', opt, 'run', 'server.py'] }],
    ['a running container', { command: ['server'], container: { name: 'tools-1' } }],
    ['a container of an image', { command: ['server'], container: { image: 'mcp/time:2' } }],
    ['a variable that fits a pattern', { command: ['npx', 'free'], environment: { ACME_TOKEN: { value: 'x' } } }],
    ['the same in a container', { command: ['docker', 'run', '-i', '-e', 'ACME_TOKEN', '--env=ACME_X=1', 'mcp/time'] }],
    ['one that may never have a value', { command: ['npx', 'free'], env_definitions: [{ name: 'LOG_LEVEL' }] }],
    ['a variable that they name', { command: ['npx', 'free'], environment: { PYTHONPATH: { value: opt } } }],
  ])('[SEC-2] allows %s', (_what, given) => {
    expect(() => gateOf(rules).check(definition(given))).not.toThrow();
  });

  test.each<[what: string, definition: object, named: string]>([
    ['a package out of its range', { command: ['npx', '@acme/server@2.0.0'] }, 'the package npm:@acme/server 2.0.0'],
    ['a package without a version', { command: ['npx', '@acme/server'] }, 'npm:@acme/server without a version'],
    ['a range where a version is wanted', { command: ['npx', 'pinned@^9'] }, 'npm:pinned ^9'],
    ['a tag where a version is wanted', { command: ['npx', 'pinned@latest'] }, 'npm:pinned latest'],
    ['a package of another scope', { command: ['npx', '@acme-evil/server@1.3.0'] }, 'npm:@acme-evil/server'],
    ['a name behind a slash', { command: ['npx', '@evil/free'] }, 'npm:@evil/free'],
    ['an npm package of an allowed Python name', { command: ['npx', 'mcp-server-time@2026.1.0'] }, 'npm:mcp-server-time'],
    ['a second package', { command: ['npx', '-p', 'free', '-p', 'evil', 'free'] }, 'npm:evil'],
    ['a second Python package', { command: ['uvx', '--with', 'evil', 'mcp-server-time==2026.1'] }, 'pypi:evil'],
    ['a program of another Python package', { command: ['uvx', '--from', 'evil==2026.1', 'mcp-server-time'] }, 'pypi:evil ==2026.1'],
    ['a program of another version', { command: ['uvx', '--from', 'mcp-server-time==2025.1', 'mcp-server-time'] }, '==2025.1'],
    ['a program of another npm package', { command: ['npx', '-y', '-p', 'evil@1.2.3', 'free'] }, 'npm:evil 1.2.3'],
    ['a Python package of a range', { command: ['uvx', 'mcp-server-time>=2026.1'] }, '>=2026.1'],
    ['another interpreter for it', { command: ['uvx', '--python', join(folder, 'evil'), 'any-thing'] }, 'evil'],
    ['another program beside a package', { command: ['npx', '-p', 'free', 'other-tool'] }, 'other-tool'],
    ['another program by its path beside a package', { command: ['npx', '-p', 'free', join(folder, 'evil')] }, 'evil'],
    ['a script beside a package', { command: ['uvx', '--from', 'any-thing', 'python', join(folder, 'evil.py')] }, 'evil.py'],
    ['a script for an interpreter that is a package', { command: ['npx', 'tsx', join(folder, 'evil.js')] }, 'evil.js'],
    ['a folder with settings of its own', { command: ['npx', 'free'], cwd: folder }, 'starting in the folder'],
    ['a project elsewhere', { command: ['uv', '--directory', folder, 'run', join(opt, 'server.py')] }, 'starting in the folder'],
    ['an image that is not named', { command: ['docker', 'run', '-i', 'evil'] }, 'the image evil'],
    ['another tag', { command: ['docker', 'run', '-i', 'ghcr.io/acme/tool:2.0'] }, 'ghcr.io/acme/tool:2.0'],
    ['no tag where one is wanted', { command: ['docker', 'run', '-i', 'ghcr.io/acme/tool'] }, 'ghcr.io/acme/tool'],
    ['an allowed tag beside another digest', { command: ['docker', 'run', '-i', `ghcr.io/acme/tool:1.7@${digest}`] }, digest],
    ['an image with a registry before an allowed name', { command: ['docker', 'run', '-i', 'evil.example/mcp/time'] }, 'evil.example'],
    ['another digest', { command: ['docker', 'run', '-i', `exact@sha256:${'b'.repeat(64)}`] }, 'exact@sha256:b'],
    ['a script elsewhere', { command: ['node', join(folder, 'evil.js')] }, 'evil.js'],
    ['a script through dots', { command: ['node', '../evil.js'], cwd: opt }, 'evil.js'],
    ['a module loaded before a script', { command: ['node', '--import', join(folder, 'evil.js'), join(opt, 'server.js')] }, 'evil.js'],
    ['the same as an address', { command: ['node', '-r', `file://${folder}/evil.js`, join(opt, 'server.js')] }, 'evil.js'],
    [
      'settings that lead imports elsewhere',
      { command: ['npx', 'tsx', '--tsconfig', join(folder, 'evil.json'), join(opt, 'server.js')] },
      'evil.json',
    ],
    ['a module that is loaded before it', { command: ['node', '-r', 'evil', join(opt, 'server.js')] }, 'the module evil'],
    ['another module', { command: ['python3', '-m', 'http.server'] }, 'the module http.server'],
    ['a module in a folder elsewhere', { command: ['python3', '-m', 'mcp_server_x'], cwd: folder }, 'starting in the folder'],
    ['another node', { command: [join(folder, 'node'), join(opt, 'server.js')] }, 'node at'],
    ['a link to Python elsewhere', { command: [join(folder, 'python3'), '-m', 'mcp_server_x'] }, 'python at'],
    ['a program elsewhere', { command: [join(folder, 'evil')] }, 'evil'],
    ['a link to a program elsewhere', { command: [join(opt, 'link')] }, `which is ${join(folder, 'evil')}`],
    ['a program on the path that is not allowed', { command: ['other-tool'] }, 'other-tool'],
    ['a program that is nowhere', { command: ['no-such-program'] }, 'not on this machine'],
    ['another container', { command: ['server'], container: { name: 'database' } }, 'the container database'],
    ['a container of another image', { command: ['server'], container: { image: 'evil' } }, 'the image evil'],
    [
      'a variable that decides what is run',
      { command: ['npx', 'free'], environment: { NODE_PATH: { value: '/x' } } },
      'the variable NODE_PATH, which decides',
    ],
    ['one that is only declared', { command: ['npx', 'free'], env_definitions: [{ name: 'NODE_PATH', secret: true }] }, 'NODE_PATH'],
    ['one that they do not name', { command: ['npx', 'free'], environment: { OTHER: { value: '1' } } }, 'add OTHER to `variables`'],
    ['one that will be needed', { command: ['npx', 'free'], env_definitions: [{ name: 'OTHER', required: true }] }, 'the variable OTHER'],
    ["one for the caller's token", { command: ['npx', 'free'], credential_env: 'USER_TOKEN' }, 'the variable USER_TOKEN'],
    ['one on the command line of docker', { command: ['docker', 'run', '-i', '-eOTHER=1', 'mcp/time'] }, 'the variable OTHER'],
    ['one in a container', { command: ['x'], container: { name: 'tools-1' }, environment: { OTHER: { value: '1' } } }, 'OTHER'],
    ['a path of its own', { command: ['npx', 'free'], environment: { PATH: { value: '/x' } } }, 'the variable PATH'],
  ])('[SEC-2] refuses %s', (_what, given, named) => {
    const refused = () => gateOf(rules).check(definition(given));
    expect(refused).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
    expect(refused).toThrow(named);
  });

  test('[SEC-2] refuses a runtime that it does not name, and lists those it does', () => {
    const gate = gateOf({ ...rules, runtimes: ['npx', 'uvx'] });
    expect(() => gate.check(definition({ command: [join(opt, 'server')] }))).toThrow(
      'do not allow programs of this machine. They allow: npx, uvx',
    );
    expect(() => gate.check(definition({ command: ['x'], container: { name: 'tools-1' } }))).toThrow('do not allow docker');
    expect(() => gate.check(definition({ command: ['npx', 'tsx', join(opt, 'server.js')] }))).toThrow('do not allow node');
  });

  test('[SEC-2] refuses a name alone if it requires digests', () => {
    const gate = gateOf({ ...rules, require_digest: true });
    expect(() => gate.check(definition({ command: ['docker', 'run', '-i', 'mcp/time'] }))).toThrow('not named by its digest');
    expect(() => gate.check(definition({ command: ['docker', 'run', '-i', `mcp/time@${digest}`] }))).not.toThrow();
  });

  test('[SEC-2] makes sure that the program it checked is the one that is started', () => {
    const command = (given: string[]) => gateOf(rules).admit(definition({ command: given }), nothing).command[0];
    expect(command(['npx', 'free'])).toBe(join(bin, 'npx'));
    expect(command(['acme-server'])).toBe(join(opt, 'server'));
    expect(command([join(opt, 'venv/bin/python3'), '-m', 'mcp_server_x'])).toBe(join(opt, 'venv/bin/python3'));
  });

  test('[SEC-2] [ENV-6] judges at the start what the server would really be given', () => {
    const stored = definition({ command: ['npx', 'free'], env_definitions: [{ name: 'OPTIONAL', secret: true }] });
    const gate = gateOf(rules);
    expect(gate.admit(stored, { base: { PATH: bin, HOME: '/root' }, given: { ACME_TOKEN: 'x' } }).env).toEqual({
      PATH: bin,
      HOME: '/root',
      ACME_TOKEN: 'x',
    });
    for (const name of ['OPTIONAL', 'PYTHONSTARTUP', 'UV_INDEX_URL', 'HOME', 'acme_token', 'LD_PRELOAD'])
      expect(() => gate.admit(stored, { base: {}, given: { [name]: 'x' } })).toThrow(`the variable ${name}`);
  });

  test('[SEC-2] has no pattern for a variable that decides which code runs', () => {
    const gate = gateOf({ ...rules, variables: ['*'] });
    const setting = (name: string) => () => gate.admit(definition({ command: ['npx', 'free'] }), { base: {}, given: { [name]: 'x' } });
    expect(setting('ANYTHING')).not.toThrow();
    for (const name of ['PYTHONPATH', 'PATH', 'BUN_CONFIG_REGISTRY', 'NODE_OPTIONS'])
      expect(setting(name)).toThrow(`add ${name} to \`variables\``);
  });

  test('[SEC-2] does not start a server registered under other rules, which is not the caller’s fault', () => {
    const stored = definition({ command: ['npx', 'evil'] });
    expect(() => gateOf(rules).admit(stored, nothing)).toThrow(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE', retryable: false }));
    expect(() => gateOf(rules).admit(stored, nothing)).toThrow('npm:evil');
    const trick = definition({ command: ['npx', '-c', 'evil'] });
    expect(() => gateOf(rules).admit(trick, nothing)).toThrow('hands a command line to a shell');
  });
});

describe("if servers may not run as the gateway's own user", () => {
  const gate = gateOf(rules, { sameUser: false });
  const attempts = (given: object) => [() => gate.check(definition(given)), () => gate.admit(definition(given), nothing)];

  test.each([{ command: ['npx', 'free'] }, { command: [join(opt, 'server')] }])('[SEC-2] %j is refused, with the alternatives', (given) => {
    for (const attempt of attempts(given))
      expect(attempt).toThrow('name another `user`, or run the server in a container, or accept it with `same_user: true`');
  });

  test.each([{ command: ['docker', 'run', '-i', 'mcp/time'] }, { command: ['server'], container: { image: 'mcp/time' } }])(
    '[SEC-2] %j runs in its container',
    (given) => {
      for (const attempt of attempts(given)) expect(attempt).not.toThrow();
    },
  );
});

test('[SEC-2] rules that allow nothing start nothing, and the message says how to allow it', () => {
  for (const given of [{ command: ['npx', 'x'] }, { command: ['x'], container: { name: 'y' } }])
    expect(() => gateOf('nothing').check(definition(given))).toThrow('--run-rules FILE');
});

test('[SEC-2] without rules everything runs except shells, inline code and the like', () => {
  const launch = gateOf(undefined).admit(definition({ command: ['anything', 'at', 'all'] }), { base: { PATH: '/bin' }, given: { A: 'b' } });
  expect(launch).toMatchObject({
    command: ['anything', 'at', 'all'],
    env: { PATH: '/bin', A: 'b' },
    bounds: { limits: {}, account: null },
  });
});

describe('the limits of a file of rules', () => {
  const limits = { memory_mb: { usual: 256, most: 512 }, processes: 10 };
  const withLimits = gateOf({ ...rules, limits }, { path: `${bin}:/usr/bin:/bin` });
  const asking = (process_limits: object) => definition({ command: ['npx', 'free'], process_limits });

  test.each<[asked: object, given: object]>([
    [{}, { memory_mb: 256, processes: 10 }],
    [
      { memory_mb: 64, open_files: 100 },
      { memory_mb: 64, processes: 10, open_files: 100 },
    ],
    [{ memory_mb: 512 }, { memory_mb: 512, processes: 10 }],
    [{ memory_mb: 1024 }, { memory_mb: 512, processes: 10 }],
  ])('[SEC-2] give a source that asks for %j the limits %j', (asked, given) => {
    expect(withLimits.admit(asking(asked), nothing).bounds?.limits).toEqual(given);
  });

  test('[SEC-2] refuse a request for more than they allow', () => {
    expect(() => withLimits.check(asking({ memory_mb: 513 }))).toThrow('no more than 512 as memory_mb');
  });

  test('[SEC-2] keep a server from starting if they cannot be set', () => {
    expect(() => gateOf({ ...rules, limits }).admit(asking({}), nothing)).toThrow('prlimit is missing');
    expect(() => gateOf(rules).admit(asking({}), nothing)).not.toThrow();
  });
});
