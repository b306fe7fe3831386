/** `npm run bench:memory`: how much memory an idle server takes, and what each module adds to it. README.md says how to read it. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { openInspector } from './inspector.ts';
import { startIssuer } from './issuer.ts';
import { sourceOf, startWithSources } from './mcp-toolcrib.ts';
import { processUsage } from './process-usage.ts';
import { median } from './quantile.ts';
import { table } from './report.ts';
import { freePort, type ServerProcess } from './server-process.ts';
import { installCompiled, startToolcrib } from './toolcrib.ts';
import { machine } from './write-results.ts';

const starts = 3;
const idleMs = 5000;
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Each imports only those before it. */
const dataOrder = (
  'demo text model resilience isolation threads store durable secrets net tracing identity policy validation sources supervision ' +
  'inventory execution administration api http cli development server'
).split(' ');

interface Idle {
  name: string;
  ready: number;
  idle: number;
  anonymous: number;
  collected: number;
}

await using cleanup = new AsyncDisposableStack();
const directory = cleanup.adopt(await mkdtemp(join(tmpdir(), 'toolcrib-bench-')), (path) => rm(path, { recursive: true, force: true }));
const { issuer } = cleanup.use(await startIssuer());

const { values: options } = parseArgs({ options: { only: { type: 'string', default: 'idle,modules' } } });
const sections = [machine];
if (options.only.includes('idle')) sections.push(await idleTable());
if (options.only.includes('modules')) {
  const modules = await loadedModules();
  sections.push(await packageTable(modules), await folderTable(modules));
}
console.log(sections.join('\n\n'));

async function idleTable(): Promise<string> {
  const compiled = await installCompiled(join(directory, 'installed'));
  const idle = [await measureIdle('from source', () => startToolcrib({ issuer, dataDir: join(directory, 'source') }))];
  if (compiled !== undefined) {
    idle.push(await measureIdle('compiled', () => startToolcrib({ program: compiled, issuer, dataDir: join(directory, 'compiled') })));
  }
  idle.push(await measureIdle('from source, with an MCP server', withSource));
  return table(
    ['idle server', 'when ready MB', 'after 5 s MB', 'of it anonymous MB', 'after a garbage collection MB'],
    idle.map((row) => [row.name, row.ready, row.idle, row.anonymous, row.collected]),
  );
}

async function withSource(): Promise<ServerProcess> {
  const own = await mkdtemp(join(directory, 'with-source-'));
  const upstream = { kind: 'stdio' as const, command: [process.execPath, script('servers/mcp-echo-stdio.ts')] };
  const source = sourceOf('echo', upstream, { lifecycle_mode: 'singleton' });
  await using issuing = new AsyncDisposableStack();
  const { server } = await startWithSources(issuing.use(await startIssuer()), own, [source]);
  return server;
}

/** The medians of some starts; the first of all fills the compile cache and is left out. */
async function measureIdle(name: string, start: () => Promise<ServerProcess>): Promise<Idle> {
  const rows: Omit<Idle, 'name'>[] = [];
  for (let round = 0; round <= starts; round++) {
    const port = await freePort();
    process.env['NODE_OPTIONS'] = `--inspect=127.0.0.1:${port}`;
    await using server = await start();
    delete process.env['NODE_OPTIONS'];
    if (round === 0) continue;
    const ready = processUsage(server.pid)?.rssMb ?? Number.NaN;
    await sleep(idleMs);
    const later = processUsage(server.pid)?.rssMb ?? Number.NaN;
    const anonymous = await anonymousMb(server.pid);
    using inspector = await openInspector(port);
    await inspector.ask('HeapProfiler.collectGarbage');
    rows.push({ ready, idle: later, anonymous, collected: processUsage(server.pid)?.rssMb ?? Number.NaN });
  }
  const middle = (which: keyof Omit<Idle, 'name'>) => Math.round(median(rows.map((row) => row[which])) * 10) / 10;
  return { name, ready: middle('ready'), idle: middle('idle'), anonymous: middle('anonymous'), collected: middle('collected') };
}

/** Without the pages of the program file, which all processes of one Node share. */
async function anonymousMb(pid: number): Promise<number> {
  const kilobytes = /^RssAnon:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

/** The files that a server has loaded when it is ready. */
async function loadedModules(): Promise<string[]> {
  const list = join(directory, 'modules.txt');
  const preload = pathToFileURL(script('loaded-modules.mjs')).href;
  const env = { TOOLCRIB_BENCH_MODULES: list, NODE_OPTIONS: `--import=${preload}` };
  await using server = await startToolcrib({ issuer, dataDir: join(directory, 'modules'), env });
  await server.stop();
  const urls = (await readFile(list, 'utf8')).trim().split('\n');
  return urls.filter((url) => /\.[cm]?[jt]s$/.test(url));
}

/** Each package in a process of its own, with all that it needs itself: what they share is counted for each. */
async function packageTable(urls: string[]): Promise<string> {
  const entries = new Map<string, string[]>();
  for (const url of urls) {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
    if (name !== undefined) entries.set(name, [...(entries.get(name) ?? []), url]);
  }
  const rows: { name: string; files: number; rss: number; heap: number }[] = [];
  for (const [name, files] of entries) {
    const [bare, after] = await probe([files]);
    if (bare === undefined || after === undefined) continue;
    rows.push({ name, files: files.length, rss: after.rss - bare.rss, heap: after.heap - bare.heap });
  }
  const most = rows.toSorted((a, b) => b.rss - a.rss).filter(({ rss }) => rss > 2_000_000);
  return table(
    ['package, alone in a process', 'files', 'memory MB', 'of it live in the heap MB'],
    most.map(({ name, files, rss, heap }) => [name, files, megabytes(rss), megabytes(heap)]),
  );
}

/** Our folders in the order of `CONTRIBUTING.md`, each with the packages that it is the first to need. */
async function folderTable(urls: string[]): Promise<string> {
  const folders = new Map<string, string[]>();
  for (const url of urls) {
    const folder = /\/packages\/toolcrib\/src\/([^/]+)\//.exec(url)?.[1];
    if (folder !== undefined) folders.set(folder, [...(folders.get(folder) ?? []), url]);
  }
  const place = (folder: string) => (dataOrder.includes(folder) ? dataOrder.indexOf(folder) : dataOrder.length);
  const order = [...folders].toSorted(([a], [b]) => place(a) - place(b));
  const held = await probe(order.map(([, files]) => files));
  const rows = held.map(({ rss, heap }, index) => {
    const before = held[index - 1] ?? { rss: 0, heap: 0 };
    const [name, files] = order[index - 1] ?? ['Node alone', []];
    return [name, files.length, megabytes(rss - before.rss), megabytes(heap - before.heap)];
  });
  return table(['folder, after those above it', 'files', 'adds MB', 'of it live in the heap MB'], rows);
}

async function probe(groups: string[][]): Promise<{ rss: number; heap: number }[]> {
  const cache = join(directory, 'probe-cache');
  const args = ['--expose-gc', script('memory-probe.mjs'), JSON.stringify(groups), cache];
  const run = () => promisify(execFile)(process.execPath, args, { maxBuffer: 1e7 });
  // The first run fills the compile cache.
  await run();
  return JSON.parse((await run()).stdout) as { rss: number; heap: number }[];
}

function megabytes(bytes: number): number {
  return Math.round((bytes / 1024 ** 2) * 10) / 10;
}
