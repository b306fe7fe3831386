import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dockerEnvironment } from '../../src/sources/mcp/process/docker-environment.ts';
import { namedRun } from '../../src/sources/mcp/process/local-process.ts';
import { processParts } from '../fixtures/mcp/start-fixture.ts';

test.each([
  [
    ['docker', 'run'],
    ['-i', 'mcp/x', 'run'],
  ],
  [['/usr/bin/podman', 'run'], ['mcp/x']],
  [['docker', 'container', 'run'], ['mcp/x']],
])('[LIFE-5] %j gets a name by which its container is removed when it has ended', (run, rest) => {
  const { command, container } = namedRun([...run, ...rest], 'source-1') ?? {};
  expect(container).toEqual({ program: run[0], name: expect.stringMatching(/^toolcrib-run-[0-9a-f]{20}$/) });
  expect(command).toEqual([...run, '--name', container?.name, '--label', 'dev.toolcrib.source=source-1', ...rest]);
});

test.each([[['node', 'run']], [['docker', 'ps']], [['docker-server', 'run']], [[]]])(
  '%j is not a docker run, and is started as it is',
  (command) => {
    expect(namedRun(command, 'source-1')).toBeUndefined();
  },
);

test.each([
  ['of a name that is not ours', { name: 'database' }],
  ['with an option for a name', { name: '--all' }],
  ['removed by another program', { program: 'rm' }],
])('a record of a container %s is dropped, and nothing is run for it', async (_what, change) => {
  using parts = processParts();
  const touched = join(parts.dataDir, 'touched');
  for (const program of ['docker', 'rm']) writeFileSync(join(parts.dataDir, program), `#!/bin/sh\ntouch '${touched}'\n`, { mode: 0o755 });
  const { program, name } = { program: 'docker', name: 'toolcrib-run-00', ...change };
  const container = { program: join(parts.dataDir, program), name };
  const record = {
    pid: 4_194_303,
    start_time: 1,
    world: null,
    forks: null,
    owner: { pid: 4_194_304, start_time: 1 },
    program: 'docker',
    container,
  };
  const file = join(parts.dataDir, 'processes', '4194303.json');
  writeFileSync(file, JSON.stringify(record));
  expect(await parts.registry.reapOrphans()).toBe(0);
  expect([existsSync(touched), readdirSync(join(parts.dataDir, 'processes'))]).toEqual([false, []]);
  // Where nothing is wrong with it, it is run: the look above can see it.
  writeFileSync(file, JSON.stringify({ ...record, container: { program: join(parts.dataDir, 'docker'), name: 'toolcrib-run-00' } }));
  await parts.registry.reapOrphans();
  expect(existsSync(touched)).toBe(true);
});

test.each([
  [undefined, {}, {}],
  ['unix:///x', { DOCKER_CONTEXT: 'desktop', DOCKER_CONFIG: '/c', PATH: '/bin' }, { DOCKER_HOST: 'unix:///x', DOCKER_CONFIG: '/c' }],
  [undefined, { DOCKER_CONTEXT: 'desktop', DOCKER_CONFIG: '' }, { DOCKER_CONTEXT: 'desktop' }],
  [
    'tcp://a:1',
    { DOCKER_CERT_PATH: '/k', DOCKER_TLS_VERIFY: '1' },
    { DOCKER_HOST: 'tcp://a:1', DOCKER_CERT_PATH: '/k', DOCKER_TLS_VERIFY: '1' },
  ],
])('the docker command gets its settings from %j and %j', (host, environment, expected) => {
  expect(dockerEnvironment(host, environment)).toEqual(expected);
});
