import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dockerEnvironment } from '../../src/sources/mcp/process/docker-environment.ts';
import { startLocalProcess } from '../../src/sources/mcp/process/local-process.ts';
import { createProcessRegistry } from '../../src/sources/mcp/process/process-registry.ts';
import { processParts } from '../fixtures/mcp/start-fixture.ts';

/** A program by this name that notes what it is asked for, and with what environment; asked to remove something, it ends as told. */
function partsWith(program: string, removal = 'exit 0') {
  const parts = processParts();
  const notes = join(parts.dataDir, 'notes');
  const path = join(parts.dataDir, program);
  const script = `#!/bin/sh\necho "$* host=$DOCKER_HOST" >> '${notes}'\nif [ "$1" = rm ]; then ${removal}; fi\n`;
  writeFileSync(path, script, { mode: 0o755 });
  const start = (...command: string[]) =>
    startLocalProcess({ ...parts, sourceId: 'source-1', command, dockerEnvironment: { DOCKER_HOST: 'unix:///x.sock' } });
  return { ...parts, path, start, notes: () => readFileSync(notes, 'utf8').trimEnd().split('\n') };
}

test.each([
  ['docker', ['run'], ['-i', 'mcp/x', 'run']],
  ['podman', ['run'], ['mcp/x']],
  ['docker', ['container', 'run'], ['mcp/x']],
])('[LIFE-5] %s %j gets a name by which its container is removed when it has ended', async (program, verb, rest) => {
  using parts = partsWith(program);
  const server = await parts.start(parts.path, ...verb, ...rest);
  await server.stop();
  const [run = '', removed = ''] = parts.notes();
  const name = /--name (toolcrib-run-[0-9a-f]{20}) /.exec(run)?.[1] ?? '';
  expect(run).toBe(`${verb.join(' ')} --name ${name} --label dev.toolcrib.source=source-1 ${rest.join(' ')} host=unix:///x.sock`);
  expect(removed).toBe(`rm -f -v ${name} host=unix:///x.sock`);
  expect(parts.recorded()).toEqual([]);
});

test('another program is started as it is, and is not told where Docker is', async () => {
  using parts = partsWith('server');
  await (await parts.start(parts.path, 'run')).stop();
  expect(parts.notes()).toEqual(['run host=']);
});

test('[LIFE-5] what could not be removed is removed by the next start that can', async () => {
  using parts = partsWith('docker', 'echo Cannot connect to the Docker daemon >&2; exit 1');
  const server = await parts.start(parts.path, 'run', 'mcp/x');
  await server.stop();
  expect(parts.log.tail(1)[0]?.text).toMatch(/^The container toolcrib-run-\w+ could not be removed/);
  const file = join(parts.dataDir, 'processes', parts.recorded()[0] ?? '');
  const record = JSON.parse(readFileSync(file, 'utf8')) as { container: { program: string; name: string } };
  expect(record.container).toEqual({ program: parts.path, name: expect.stringMatching(/^toolcrib-run-/) });
  const disowned = { ...record, owner: { pid: 4_194_304, start_time: 1 } };
  writeFileSync(file, JSON.stringify(disowned));
  const nextStart = () => createProcessRegistry({ dataDir: parts.dataDir }).reapOrphans();
  expect(await nextStart()).toBe(0);
  expect(parts.recorded()).toHaveLength(1);
  writeFileSync(parts.path, '#!/bin/sh\necho removed\n');
  expect(await nextStart()).toBe(1);
  expect(parts.recorded()).toEqual([]);
});

test.each([
  ['of a name that is not ours', { name: 'database' }],
  ['with an option for a name', { name: '--all' }],
  ['removed by another program', { program: '/bin/sh' }],
])('a record of a container %s is dropped, and nothing is done', async (_what, change) => {
  using parts = partsWith('docker', 'exit 1');
  await (await parts.start(parts.path, 'run', 'mcp/x')).stop();
  const file = join(parts.dataDir, 'processes', parts.recorded()[0] ?? '');
  const record = JSON.parse(readFileSync(file, 'utf8')) as { container: object };
  const changed = { ...record, owner: { pid: 4_194_304, start_time: 1 }, container: { ...record.container, ...change } };
  writeFileSync(file, JSON.stringify(changed));
  const before = parts.notes();
  expect(await parts.registry.reapOrphans()).toBe(0);
  expect(parts.notes()).toEqual(before);
  expect(parts.recorded()).toEqual([]);
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
])('the docker command is told of %j and %j', (host, environment, expected) => {
  expect(dockerEnvironment(host, environment)).toEqual(expected);
});
