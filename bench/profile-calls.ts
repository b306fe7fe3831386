/** `npm run bench:profile`: which part of the server a call's processor time goes to. README.md says how to read it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openProfiler, type Profiler } from './cpu-profile.ts';
import { doorRequests, echoRequests, eras } from './echo-requests.ts';
import { startIssuer } from './issuer.ts';
import type { PreparedRequest } from './load.ts';
import { startLoadProcess } from './load-process.ts';
import { sourceOf, startWithSources } from './mcp-toolcrib.ts';
import { setupOf, type ServerSetup } from './other-checkout.ts';
import type { Upstream } from './peers/peers.ts';
import { pinToCore } from './pin-to-core.ts';
import { descendantsOf, mainThreadCpuSeconds, processUsage } from './process-usage.ts';
import { attribute, parts, unclassified, type Attribution } from './profile-parts.ts';
import { table } from './report.ts';
import { freePort, startServerProcess, type ServerProcess } from './server-process.ts';
import { machine } from './write-results.ts';

const { values: options } = parseArgs({
  options: {
    upstream: { type: 'string', default: 'stdio' },
    beside: { type: 'string' },
    door: { type: 'boolean', default: false },
    connections: { type: 'string', default: '32' },
    rounds: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '2' },
  },
});
if (options.upstream !== 'stdio' && options.upstream !== 'http') throw new Error(`--upstream takes stdio or http, not ${options.upstream}`);
const kind = options.upstream;
const [connections, rounds, seconds] = [options.connections, options.rounds, options.seconds].map(Number) as [number, number, number];
if (!(connections > 0 && rounds > 0 && seconds > 0)) throw new Error('--connections, --rounds and --seconds must be numbers above 0');

/** Fine enough for a few seconds, coarse enough that sampling does not slow the server much. */
const samplingIntervalUs = 250;
const users = 200;
const firstWarmUpSeconds = 3;

interface Profiled {
  name: string;
  server: ServerProcess;
  requests: PreparedRequest[];
  companions: number[];
  profiler: Profiler;
  totals: Attribution;
  calls: number;
  /** Of the main thread, which is profiled, and of all threads. */
  mainSeconds: number;
  allSeconds: number;
}

await using cleanup = new AsyncDisposableStack();
const directory = cleanup.adopt(await mkdtemp(join(tmpdir(), 'toolcrib-bench-')), (path) => rm(path, { recursive: true, force: true }));
const issuer = cleanup.use(await startIssuer());
const load = cleanup.use(startLoadProcess());
const upstream = await startUpstream();
const { toToolcrib } = echoRequests(issuer, users);

const versions: Profiled[] = [];
if (options.beside !== undefined) versions.push(await start('before', await setupOf(resolve(options.beside))));
versions.push(await start(options.beside === undefined ? 'now' : 'after', { sourceOf, startWithSources }));
// The same server by another way in, so that nothing else differs.
const [rest] = versions.slice(-1);
if (options.door && rest !== undefined) {
  for (const era of eras) {
    const requests = await doorRequests(issuer, users, rest.server.port, era);
    versions.push({ ...rest, name: `door ${era}`, requests, totals: nothing() });
  }
}
for (const version of versions) await run(version, firstWarmUpSeconds, false);
for (let round = 0; round < rounds; round++) {
  for (const version of round % 2 === 0 ? versions : versions.toReversed()) await run(version, seconds, true);
}
console.log(toMarkdown(versions));

async function startUpstream(): Promise<{ upstream: Upstream; pids: number[] }> {
  const script = (name: string) => fileURLToPath(new URL(`./servers/${name}.ts`, import.meta.url));
  if (kind === 'stdio') return { upstream: { kind, command: [process.execPath, script('mcp-echo-stdio')] }, pids: [] };
  const remote = cleanup.use(await startServerProcess({ args: (port) => [script('mcp-echo-http'), String(port)] }));
  pinToCore(remote.pid, 1);
  return { upstream: { kind, url: `http://127.0.0.1:${remote.port}/mcp` }, pids: [remote.pid] };
}

async function start(name: string, setup: Pick<ServerSetup, 'sourceOf' | 'startWithSources'>): Promise<Profiled> {
  const source = setup.sourceOf('echo', upstream.upstream, { lifecycle_mode: 'singleton' });
  const inspectorPort = await freePort();
  // By the environment, because every version of the bench starts its server in its own way.
  process.env['NODE_OPTIONS'] = `--inspect=127.0.0.1:${inspectorPort}`;
  const { server } = await setup.startWithSources(issuer, join(directory, name), [source]);
  delete process.env['NODE_OPTIONS'];
  cleanup.use(server);
  const children = descendantsOf(server.pid);
  for (const child of children) pinToCore(child, 1);
  const profiler = cleanup.use(await openProfiler(inspectorPort, samplingIntervalUs));
  const companions = [...children, ...upstream.pids];
  return { name, server, requests: toToolcrib, companions, profiler, totals: nothing(), calls: 0, mainSeconds: 0, allSeconds: 0 };
}

function nothing(): Attribution {
  return { parts: new Map(), unknown: new Map() };
}

async function run(version: Profiled, measuredSeconds: number, isCounted: boolean): Promise<void> {
  const { pid, port } = version.server;
  const job = { port, pid, companions: version.companions, connections, requests: version.requests };
  await version.profiler.start();
  const before = secondsOf(pid);
  const report = await load.run({ ...job, warmUp: { calls: 0, seconds: 0 }, measured: { calls: users, seconds: measuredSeconds } });
  const after = secondsOf(pid);
  const profile = await version.profiler.stop();
  if (!isCounted) return;
  const round = attribute(profile);
  for (const which of ['parts', 'unknown'] as const) {
    const totals = version.totals[which] as Map<string, number>;
    for (const [name, samples] of round[which]) totals.set(name, (totals.get(name) ?? 0) + samples);
  }
  version.calls += report.allCalls;
  version.mainSeconds += after.main - before.main;
  version.allSeconds += after.all - before.all;
}

function secondsOf(pid: number): { main: number; all: number } {
  const [main, all] = [mainThreadCpuSeconds(pid), processUsage(pid)?.cpuSeconds];
  if (main === undefined || all === undefined) throw new Error('The processor time of a thread is known on Linux only');
  return { main, all };
}

/** The processor time that the system counted, divided by how often each part was seen. */
function perCall({ totals, calls, mainSeconds }: Profiled, samples: number): number {
  const seen = [...totals.parts.values()].reduce((sum, count) => sum + count, 0);
  return ((samples / seen) * mainSeconds * 1e6) / calls;
}

function toMarkdown(profiled: readonly Profiled[]): string {
  const each = (name: string, microseconds: (version: Profiled) => number) =>
    [name].concat(profiled.map((version) => microseconds(version).toFixed(1)));
  const rows = parts.map((part) => each(part, (version) => perCall(version, version.totals.parts.get(part) ?? 0)));
  rows.push(
    each('**main thread**', ({ mainSeconds, calls }) => (mainSeconds * 1e6) / calls),
    each('other threads', ({ mainSeconds, allSeconds, calls }) => ((allSeconds - mainSeconds) * 1e6) / calls),
  );
  const heads = profiled.map(({ name, calls }) => `${name}, µs per call (${calls.toLocaleString('en')} calls)`);
  return [
    `${machine}; ${kind === 'stdio' ? 'stdio' : 'streamable HTTP'} behind it, ${connections} connections`,
    table(['processor time by part', ...heads], rows),
    ...profiled.map((version) => unknownFunctions(version)).filter((text) => text !== ''),
  ].join('\n\n');
}

/** What the rules should learn. */
function unknownFunctions(version: Profiled): string {
  const most = [...version.totals.unknown].toSorted((a, b) => b[1] - a[1]).slice(0, 12);
  if (most.length === 0) return '';
  const lines = most.map(([place, samples]) => `- ${perCall(version, samples).toFixed(2)} µs ${place}`);
  return [`In ${version.name}, ${unclassified}:`, ...lines].join('\n');
}
