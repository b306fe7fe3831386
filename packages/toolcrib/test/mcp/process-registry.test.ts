import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProcessRegistry } from '../../src/sources/mcp/process/process-registry.ts';
import { livingInGroups, processParts, startFixture } from '../fixtures/mcp/start-fixture.ts';

const gatewayProgram = join(import.meta.dirname, '..', 'fixtures', 'mcp', 'gateway.ts');

/** A second program, until it is disposed of; and the first line it printed. */
async function runGateway(...args: string[]) {
  const gateway = spawn(process.execPath, [gatewayProgram, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(gateway, 'close');
  const complaints: string[] = [];
  gateway.stderr.setEncoding('utf8').on('data', (text: string) => complaints.push(text));
  const first = once(gateway.stdout.setEncoding('utf8'), 'data') as Promise<[string]>;
  const [line] = await Promise.race([first, closed.then(() => [complaints.join('')])]);
  return {
    line,
    async [Symbol.asyncDispose]() {
      gateway.kill('SIGKILL');
      await closed;
    },
  };
}

/** The servers of a gateway that was then killed without a chance to do anything. */
async function leaveOrphans(dataDir: string, modes: string[]): Promise<number[]> {
  await using gateway = await runGateway('start', dataDir, ...modes);
  return JSON.parse(gateway.line.replace('started ', '')) as number[];
}

async function reapInNewGateway(dataDir: string): Promise<string> {
  await using gateway = await runGateway('reap', dataDir);
  return gateway.line;
}

test('[LIFE-5] processes left by a killed gateway are gone when the next one has started', async () => {
  using parts = processParts();
  const pids = await leaveOrphans(parts.dataDir, ['stubborn', 'stubborn', 'forks,2', 'forks,1,stubborn', 'forks,1,stubborn,setsid']);
  // The third server has left with its input; its two children have not.
  expect(livingInGroups(pids).length).toBeGreaterThanOrEqual(7);
  expect(parts.recorded()).toHaveLength(5);
  expect(await reapInNewGateway(parts.dataDir)).toBe('reaped 5\n');
  expect(livingInGroups(pids)).toEqual([]);
  expect(parts.recorded()).toEqual([]);
});

test('[LIFE-5] most servers end with the gateway, because their input closes', async () => {
  using parts = processParts();
  const pids = await leaveOrphans(parts.dataDir, ['plain', 'noise', 'content-length', 'pages', 'flood-stderr']);
  while (livingInGroups(pids).length > 0) await new Promise((resolve) => setImmediate(resolve));
  expect(await reapInNewGateway(parts.dataDir)).toBe('reaped 0\n');
  expect(parts.recorded()).toEqual([]);
});

test('a server of a living gateway is left alone, by itself and by others', async () => {
  await using fixture = await startFixture('plain');
  expect(await fixture.registry.reapOrphans()).toBe(0);
  expect(await reapInNewGateway(fixture.dataDir)).toBe('reaped 0\n');
  expect(livingInGroups([fixture.server.pid])).toEqual([fixture.server.pid]);
  expect(fixture.recorded()).toHaveLength(1);
});

test('a record is readable for this account only, and holds no arguments', async () => {
  await using fixture = await startFixture('plain', { env: { PATH: process.env.PATH ?? '', SECRET: 'hidden' } });
  const text = readFileSync(join(fixture.dataDir, 'processes', `${fixture.server.pid}.json`), 'utf8');
  expect(JSON.parse(text)).toMatchObject({ pid: fixture.server.pid, program: 'node', owner: { pid: process.pid } });
  expect(text).not.toMatch(/hidden|server\.js|plain/);
});

type Change = (record: Record<string, unknown>) => object | string;
const foreign: [string, Change][] = [
  ['whose start time is another', (record) => ({ ...record, start_time: Number(record.start_time) + 1 })],
  ['whose start time is not known', (record) => ({ ...record, start_time: null })],
  ['of another boot or container', (record) => ({ ...record, world: 'another' })],
  ['with a field too many', (record) => ({ ...record, surprise: 1 })],
  ['that is the first process of the machine', (record) => ({ ...record, pid: 1 })],
  ['that names a group of groups', (record) => ({ ...record, pid: -1 })],
  ['that is cut off', (record) => JSON.stringify(record).slice(0, 30)],
  ['that is empty', () => ''],
];
test.each(foreign)('a record %s is dropped, and nothing is ended', async (_name, change) => {
  await using fixture = await startFixture('stubborn', { patience: { politeMs: 1, termMs: 1 } });
  const file = join(fixture.dataDir, 'processes', `${fixture.server.pid}.json`);
  // As if the gateway that started it were gone.
  const record = { ...(JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>), owner: { pid: 4_194_304, start_time: 1 } };
  const changed = change(record);
  writeFileSync(file, typeof changed === 'string' ? changed : JSON.stringify(changed));
  expect(await createProcessRegistry({ dataDir: fixture.dataDir }).reapOrphans()).toBe(0);
  expect(livingInGroups([fixture.server.pid])).toEqual([fixture.server.pid]);
  expect(readdirSync(join(fixture.dataDir, 'processes'))).toEqual([]);
});

test('children without their parent are ended only if their process id cannot be reused yet', async () => {
  using parts = processParts();
  const leader = spawn('sh', ['-c', 'sleep 1000 & echo begun; read wait'], { detached: true, stdio: ['pipe', 'pipe', 'ignore'] });
  const pid = leader.pid as number;
  parts.registry.add({ pid, program: 'sh' });
  await once(leader.stdout, 'data');
  leader.stdin.end();
  await once(leader, 'exit');
  const file = join(parts.dataDir, 'processes', `${pid}.json`);
  const record = { ...(JSON.parse(readFileSync(file, 'utf8')) as object), owner: { pid: 4_194_304, start_time: 1 } };
  writeFileSync(file, JSON.stringify({ ...record, forks: -10_000_000 }));
  expect(await parts.registry.reapOrphans()).toBe(0);
  expect(livingInGroups([pid])).toHaveLength(1);
  writeFileSync(file, JSON.stringify(record));
  expect(await parts.registry.reapOrphans()).toBe(1);
  expect(livingInGroups([pid])).toEqual([]);
});
