/** `npm run bench:threads`: what `--threads` gains and costs, beside as many processes. README.md says how to read it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { echoRequests } from './echo-requests.ts';
import { startIssuer } from './issuer.ts';
import { startLoadProcess, type LoadProcess } from './load-process.ts';
import type { LoadReport, PreparedRequest } from './load.ts';
import { sourceOf, startWithSources } from './mcp-toolcrib.ts';
import { pinToCore } from './pin-to-core.ts';
import { descendantsOf, mainThreadCpuSeconds, processUsage } from './process-usage.ts';
import { median } from './quantile.ts';
import { table } from './report.ts';
import type { ServerProcess } from './server-process.ts';
import { machine } from './write-results.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '2' } } });
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
if (!(rounds > 0 && seconds > 0)) throw new Error('--rounds and --seconds must be numbers above 0');

interface Contestant {
  name: string;
  servers: ServerProcess[];
  idleMb: number;
}

interface Round {
  callsPerSecond: number;
  cpuUs: number;
  mainUs: number;
  memoryMb: number;
  p50Us: number;
}

await using cleanup = new AsyncDisposableStack();
const directory = cleanup.adopt(await mkdtemp(join(tmpdir(), 'toolcrib-bench-')), (path) => rm(path, { recursive: true, force: true }));
const issuer = cleanup.use(await startIssuer());
const loads = [cleanup.use(startLoadProcess()), cleanup.use(startLoadProcess())];
const echo = {
  kind: 'stdio' as const,
  command: [process.execPath, fileURLToPath(new URL('./servers/mcp-echo-stdio.ts', import.meta.url))],
};
const { toToolcrib: requests } = echoRequests(issuer, 200);

const contestants = [
  await contestant('1 thread', ['1']),
  await contestant('2 threads', ['2']),
  await contestant('4 threads', ['4']),
  await contestant('2 processes', ['1', '1']),
];
const measured = new Map<Contestant, Round[]>(contestants.map((one) => [one, []]));
for (let round = 0; round <= rounds; round++) {
  for (const [one, figures] of round % 2 === 0 ? measured : [...measured].toReversed()) {
    const figure = await measure(one, round === 0 ? 2 : 0.2);
    // The first round warms up.
    if (round > 0) figures.push(figure);
  }
}
report();

/** One server for each number of threads. */
async function contestant(name: string, threads: string[]): Promise<Contestant> {
  const servers = [];
  for (const [index, count] of threads.entries()) {
    const sources = [sourceOf('echo', echo, { lifecycle_mode: 'singleton' })];
    const { server } = await startWithSources(issuer, join(directory, `${name}-${index}`), sources, { TOOLCRIB_THREADS: count });
    servers.push(cleanup.use(server));
    for (const behind of descendantsOf(server.pid)) pinToCore(behind, 1);
    pinToCore(server.pid, index);
  }
  await sleep(2000);
  return { name, servers, idleMb: servers.reduce((sum, { pid }) => sum + (processUsage(pid)?.rssMb ?? Number.NaN), 0) };
}

/** 32 connections over all servers, then one. */
async function measure({ servers }: Contestant, warmUpSeconds: number): Promise<Round> {
  const each = 32 / servers.length;
  await Promise.all(servers.map((server, index) => run(loads[index], server, each, warmUpSeconds)));
  const mainBefore = servers.map(({ pid }) => mainThreadCpuSeconds(pid) ?? Number.NaN);
  const reports = await Promise.all(servers.map((server, index) => run(loads[index], server, each, seconds)));
  const mainSeconds = sum(servers.map(({ pid }, index) => (mainThreadCpuSeconds(pid) ?? Number.NaN) - (mainBefore[index] ?? 0)));
  const calls = sum(reports.map((one) => one.calls));
  const [alone] = servers;
  if (alone === undefined) throw new Error('There is no server');
  const single = await run(loads[0], alone, 1, seconds / 2);
  return {
    callsPerSecond: sum(reports.map((one) => one.callsPerSecond)),
    cpuUs: (sum(reports.map((one) => one.serverCpuSeconds ?? Number.NaN)) / calls) * 1e6,
    mainUs: (mainSeconds / calls) * 1e6,
    memoryMb: sum(reports.map((one) => one.serverRssMb ?? Number.NaN)),
    p50Us: single.p50Us,
  };
}

async function run(load: LoadProcess | undefined, server: ServerProcess, connections: number, long: number): Promise<LoadReport> {
  if (load === undefined) throw new Error('There is no load program for this server');
  const asked: PreparedRequest[] = requests;
  const none = { calls: 0, seconds: 0 };
  return load.run({
    port: server.port,
    pid: server.pid,
    connections,
    requests: asked,
    warmUp: none,
    measured: { calls: 0, seconds: long },
  });
}

function report(): void {
  const heads = ['', '32 connections: calls/s', 'CPU µs a call', 'of the main thread', 'memory MB', 'idle MB', 'one connection: p50 µs'];
  const rows = [...measured].map(([{ name, idleMb }, figures]) => {
    const middle = (key: keyof Round) => Math.round(median(figures.map((figure) => figure[key]))).toString();
    const [rate, cpu, main, memory, p50] = (['callsPerSecond', 'cpuUs', 'mainUs', 'memoryMb', 'p50Us'] as const).map(middle);
    return [name, rate, cpu, main, memory, Math.round(idleMb).toString(), p50].map((cell) => cell ?? '');
  });
  console.log(`${machine}; medians of ${rounds} rounds\n\n${table(heads, rows)}`);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
