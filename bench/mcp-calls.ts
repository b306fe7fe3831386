/** `npm run bench:mcp`: the cost of an MCP tool call through Toolcrib and through other gateways. README.md says how to read it. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { benchOptions } from './bench-options.ts';
import { doorRequests, echoRequests, eras, peerRequests } from './echo-requests.ts';
import { startIssuer } from './issuer.ts';
import { startLoadProcess } from './load-process.ts';
import { baseline, measureCalls, overHttp, type Contestant, type Spell } from './measure-calls.ts';
import { comparisons, doorOf, mcpTargets, mcpToMarkdown, type Absent, type McpResults } from './mcp-report.ts';
import { sourceOf, startWithSources } from './mcp-toolcrib.ts';
import { measureStandby } from './measure-standby.ts';
import { installed } from './peers/installed.ts';
import { setupOf, type ServerSetup } from './other-checkout.ts';
import { peers, type Peer, type Upstream } from './peers/peers.ts';
import { pinToCore } from './pin-to-core.ts';
import { descendantsOf } from './process-usage.ts';
import { recordedCalls, type DatabasePlace } from './seed.ts';
import { startServerProcess } from './server-process.ts';
import { startWorkerProcess } from './worker-process.ts';
import { machine, writeResults } from './write-results.ts';

const parts = ['calls', 'standby'];
const options = benchOptions(process.argv.slice(2), { parts, name: 'mcp-calls', users: 200 });
const script = (name: string) => fileURLToPath(new URL(`./servers/${name}.ts`, import.meta.url));
const echoCommand = [process.execPath, script('mcp-echo-stdio')];

await using cleanup = new AsyncDisposableStack();
const directory = cleanup.adopt(await mkdtemp(join(tmpdir(), 'toolcrib-bench-')), (path) => rm(path, { recursive: true, force: true }));
const issuer = cleanup.use(await startIssuer());

const standby = options.only.has('standby') ? await measureStandby({ issuer, directory, command: echoCommand }) : null;
const calls = options.only.has('calls')
  ? await callsBesideOthers()
  : { figures: [], compared: [], turns: { kept: 0, made: 0 }, absent: [] };
const results: McpResults = {
  measured_at: new Date().toISOString(),
  machine,
  command: ['npm run bench:mcp', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' '),
  turns: calls.turns,
  absent: calls.absent,
  calls: calls.figures,
  compared: calls.compared,
  standby,
  targets: mcpTargets(calls.compared, standby),
};
await writeResults(options.name, results);
console.log(mcpToMarkdown(results));

async function callsBesideOthers() {
  await using running = new AsyncDisposableStack();
  const load = running.use(startLoadProcess());
  const contestants: Contestant[] = [];
  /** Where each server of ours has its record, and the contestants that are ways into it. */
  const places: { place: DatabasePlace; names: string[] }[] = [];
  const absent: Absent[] = [];
  const { toToolcrib, toEcho } = echoRequests(issuer, options.users);

  for (const name of ['node-http-echo', baseline]) {
    const bare = running.use(await startServerProcess({ args: (port) => [script(name), String(port)] }));
    contestants.push(overHttp({ load, name, server: bare, requests: toEcho }));
  }

  const remote = running.use(await startServerProcess({ args: (port) => [script('mcp-echo-http'), String(port)] }));
  pinToCore(remote.pid, 1);
  const upstreams: Upstream[] = [
    { kind: 'stdio', command: echoCommand },
    { kind: 'http', url: `http://127.0.0.1:${remote.port}/mcp` },
  ];
  /** The process behind a gateway runs on the core of the load program, so that the gateway has the other core to itself, as the bare server has. */
  const behind = (pid: number, { kind }: Upstream) => {
    const started = descendantsOf(pid);
    for (const child of started) pinToCore(child, 1);
    return kind === 'stdio' ? started : [...started, remote.pid];
  };

  const beside = options.beside === undefined ? undefined : await setupOf(options.beside);
  for (const upstream of upstreams) {
    await addToolcrib('toolcrib', upstream, { sourceOf, startWithSources });
    if (beside !== undefined) await addToolcrib('toolcrib-beside', upstream, beside);
    for (const peer of peers) await addPeer(peer, upstream);
  }

  async function addToolcrib(
    version: string,
    upstream: Upstream,
    setup: Pick<ServerSetup, 'sourceOf' | 'startWithSources'>,
  ): Promise<void> {
    const name = `${version} (${upstream.kind})`;
    const source = setup.sourceOf('echo', upstream, { lifecycle_mode: 'singleton' });
    const { server, place } = await setup.startWithSources(issuer, join(directory, `${version}-${upstream.kind}`), [source]);
    running.use(server);
    const companions = behind(server.pid, upstream);
    contestants.push(overHttp({ load, name, server, requests: toToolcrib, companions }));
    places.push({ place, names: [name] });
    if (version !== 'toolcrib') return;
    for (const era of eras) {
      const requests = await doorRequests(issuer, options.users, server.port, era);
      const doorName = `${doorOf(era)} (${upstream.kind})`;
      contestants.push(overHttp({ load, name: doorName, server, requests, companions }));
      places.at(-1)?.names.push(doorName);
    }
  }

  async function addPeer(peer: Peer, upstream: Upstream): Promise<void> {
    const found = installed(peer);
    const name = `${peer.name} (${upstream.kind})`;
    const reason = 'absent' in found ? found.absent : peer.unfit?.[upstream.kind];
    if ('absent' in found || reason !== undefined) return void absent.push({ name, reason: reason ?? '' });
    const own = join(directory, `${peer.key}-${upstream.kind}`);
    await mkdir(own, { recursive: true });
    try {
      const server = running.use(await startServerProcess(peer.launch(found.program, upstream, own)));
      const requests = peerRequests(await peer.calls(server.port), options.users);
      const contestant = overHttp({ load, name, server, requests, companions: behind(server.pid, upstream), warmUpCalls: 32 });
      contestants.push({ ...contestant, mayFail: true });
    } catch (error) {
      absent.push({ name, reason: `it did not start: ${(error as Error).message.trim().split('\n').at(-1)}` });
    }
  }

  const direct = running.use(startWorkerProcess<Spell>('./direct-call.ts', echoCommand));
  await direct.run({ connections: 1, warmUpSeconds: 0.1, measuredSeconds: 0 });
  pinToCore(direct.pid, 0);
  for (const child of descendantsOf(direct.pid)) pinToCore(child, 1);
  contestants.push({ name: 'SDK client, no gateway (stdio)', connections: [1], run: (spell) => direct.run(spell) });

  // There are many contestants: each gets less time, so that the run ends within 6 minutes.
  const { figures, turns, answered, failed, compare } = await measureCalls(contestants, {
    ...options,
    patience: 1.15,
    firstWarmUpSeconds: 2,
  });
  for (const [name, reason] of failed) absent.push({ name, reason: `it did not hold out: ${reason}` });
  await running.disposeAsync();
  for (const { place, names } of places) {
    const expected = names.reduce((sum, name) => sum + (answered.get(name) ?? 0), 0);
    const recorded = await recordedCalls(place);
    if (recorded !== expected) throw new Error(`${names.join(', ')} got ${expected} calls but recorded ${recorded}`);
  }
  return { figures, compared: comparisons(figures, compare), turns, absent };
}
