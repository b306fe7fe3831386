/** `npm run bench:growth`: how what Toolcrib costs grows with what it holds. README.md says how to read it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { grantingClaims, listingRole, seedGrowth, type Size } from './growth-seed.ts';
import { startIssuer } from './issuer.ts';
import { startLoadProcess } from './load-process.ts';
import type { Bound, LoadReport, PreparedRequest } from './load.ts';
import { postBytes } from './post-bytes.ts';
import { processUsage } from './process-usage.ts';
import { median } from './quantile.ts';
import { table } from './report.ts';
import type { ServerProcess } from './server-process.ts';
import { startToolcrib } from './toolcrib.ts';
import { claimsOf, listBytes } from './users.ts';
import { machine, writeResults } from './write-results.ts';

const dimensions = {
  tools: [10, 1000, 10_000, 100_000],
  policies: [1, 50, 500, 5000],
  users: [1, 1000, 10_000, 100_000],
  sets: [1, 50, 500, 5000],
  sources: [1, 20, 200],
  record: [10_000, 100_000, 1_000_000],
} satisfies Partial<Record<keyof Size, number[]>>;
const usual: Size = { tools: 1000, sources: 5, policies: 20, users: 200, sets: 1, record: 0 };
const pastCalls = 10_000_000;

const { values: options } = parseArgs({
  options: {
    /** Leaves out the largest step of each dimension. */
    quick: { type: 'boolean', default: false },
    /** Adds ten million recorded calls, which take minutes and gigabytes to write. */
    large: { type: 'boolean', default: false },
    only: { type: 'string', default: Object.keys(dimensions).join(',') },
    seconds: { type: 'string', default: '1.5' },
    name: { type: 'string', default: 'growth' },
  },
});
const seconds = Number(options.seconds);
if (!(seconds > 0)) throw new Error(`--seconds must be a number above 0, not ${options.seconds}`);
const changes = 7;
/** Enough that nobody searches more often than is allowed. */
const listers = 100;
const callers = 16;

/** What is measured at each step. */
const costs = {
  start_ms: 'start ms',
  start_cpu_ms: 'start, CPU ms',
  memory_mb: 'memory MB',
  call_p50_us: 'call p50 µs',
  call_cpu_us: 'call, CPU µs',
  list_p50_us: 'list p50 µs',
  search_p50_us: 'search p50 µs',
  change_ms: 'change ms',
} as const;
type Figures = Record<keyof typeof costs, number>;
interface Step extends Figures {
  dimension: keyof typeof dimensions;
  size: number;
}

await using cleanup = new AsyncDisposableStack();
const directory = cleanup.adopt(await mkdtemp(join(tmpdir(), 'toolcrib-bench-')), (path) => rm(path, { recursive: true, force: true }));
const issuer = cleanup.use(await startIssuer());
const load = cleanup.use(startLoadProcess());

const steps: Step[] = [];
for (const dimension of options.only.split(',').map(knownDimension)) {
  const sizes = dimensions[dimension].slice(0, options.quick ? -1 : undefined);
  if (dimension === 'record' && options.large) sizes.push(pastCalls);
  for (const size of sizes) {
    const figures = await measure({ ...usual, [dimension]: size });
    steps.push({ dimension, size, ...figures });
    console.error(
      `${dimension} ${size}: ${Object.entries(figures)
        .map((pair) => pair.join(' '))
        .join(', ')}`,
    );
  }
}
const exponents = Object.keys(dimensions).flatMap((dimension) => exponentsOf(steps.filter((step) => step.dimension === dimension)));
const command = ['npm run bench:growth', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' ');
await writeResults(options.name, { measured_at: new Date().toISOString(), machine, command, steps, exponents });
const heads = Object.values(costs);
const cells = (figures: Figures) => Object.keys(costs).map((cost) => figures[cost as keyof Figures]);
console.log(
  table(
    ['', 'size', ...heads],
    steps.map((step) => [step.dimension as string | number, step.size].concat(cells(step))),
  ),
);
console.log();
console.log(
  table(
    ['exponent', 'from', 'to', ...heads],
    exponents.map((found) => [found.dimension as string | number, found.from, found.to].concat(cells(found))),
  ),
);

function knownDimension(name: string): keyof typeof dimensions {
  if (name in dimensions) return name as keyof typeof dimensions;
  throw new Error(`--only takes ${Object.keys(dimensions).join(', ')}, separated by commas, not ${name}`);
}

/** By which power each cost grows with the size, over the last two steps: 0 not at all, 1 in proportion. */
function exponentsOf(found: readonly Step[]) {
  const [before, last] = found.slice(-2);
  if (before === undefined || last === undefined) return [];
  const slope = (cost: keyof Figures) => Math.round((Math.log(last[cost] / before[cost]) / Math.log(last.size / before.size)) * 100) / 100;
  const slopes = Object.fromEntries(Object.keys(costs).map((cost) => [cost, slope(cost as keyof Figures)])) as Figures;
  return [{ dimension: last.dimension, from: before.size, to: last.size, ...slopes }];
}

async function measure(size: Size): Promise<Figures> {
  const dataDir = await mkdtemp(join(directory, 'data-'));
  await seedGrowth(join(dataDir, 'toolcrib.db'), size);
  // The first start prepares what later ones find, such as the compile cache and the built-in tools.
  await (await startToolcrib({ issuer: issuer.issuer, dataDir })).stop();
  await using server = await startToolcrib({ issuer: issuer.issuer, dataDir });
  const started = processUsage(server.pid);
  await sleep(3000);
  const memory = processUsage(server.pid)?.rssMb ?? Number.NaN;
  const lists = Array.from({ length: listers }, () => listBytes(issuer.mint(claimsOf(0, [listingRole])))).map((bytes) => ({
    bytes,
    status: 200,
    expect: '"tools":[{',
  }));
  const searches = lists.map((list) => ({
    ...list,
    bytes: list.bytes.replace('/api/bff/tools', '/api/bff/tools?q=invoices+of+a+customer'),
  }));
  const once = { calls: listers, seconds: 0 };
  const searched = await run(server, searches, { calls: 10, seconds: 0 }, once);
  const listed = await run(server, lists, once, { calls: listers, seconds: seconds / 3 });
  const requests = Array.from({ length: size.users }, (_, index) => callOf(index, size));
  // Everybody calls once before the measuring begins, and everybody is measured.
  const calls = Math.max(size.users, 2000);
  const called = await run(server, requests, { calls, seconds: seconds / 3 }, { calls, seconds }, callers);
  const figures = {
    start_ms: server.readyMs,
    start_cpu_ms: (started?.cpuSeconds ?? Number.NaN) * 1000,
    memory_mb: memory,
    call_p50_us: called.p50Us,
    call_cpu_us: ((called.serverCpuSeconds ?? Number.NaN) * 1e6) / called.calls,
    list_p50_us: listed.p50Us,
    search_p50_us: searched.p50Us,
    change_ms: await changeTime(server),
  };
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
  const rounded = Object.entries(figures).map(([cost, value]) => [cost, value < 100 ? Math.round(value * 10) / 10 : Math.round(value)]);
  return Object.fromEntries(rounded) as Figures;
}

function run(server: ServerProcess, requests: PreparedRequest[], warmUp: Bound, measured: Bound, connections = 1): Promise<LoadReport> {
  const { port, pid } = server;
  return load.run({ port, pid, connections, requests, warmUp, measured });
}

function callOf(index: number, size: Size): PreparedRequest {
  const token = issuer.mint({ ...claimsOf(index, []), ...grantingClaims(index, size) });
  const body = { name: 'builtin:calculator', arguments: { expression: `${index} + 1` } };
  const bytes = postBytes('/api/bff/tools/call', body, { authorization: `Bearer ${token}` });
  return { bytes, status: 200, expect: `"result":{"result":${index + 1}},` };
}

/** How long a new policy takes until it decides, which is before it is acknowledged, and the list of a caller shows it. */
async function changeTime({ port }: ServerProcess): Promise<number> {
  const admin = issuer.mint(claimsOf(0, ['toolcrib-admin']));
  const caller = issuer.mint({ ...claimsOf(1, []), department: 'nobody' });
  const post = (path: string, token: string, body: object) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const call = { name: 'builtin:calculator', arguments: { expression: '1 + 1' } };
  const took: number[] = [];
  for (let time = 0; time < changes; time++) {
    const subject = { path: 'department', operator: 'equals', value: 'nobody' };
    const began = performance.now();
    const made = await post('/api/policies', admin, { name: `Bench ${time}`, matchers: [subject], groups: ['arithmetic'] });
    const called = await post('/api/bff/tools/call', caller, call);
    took.push(performance.now() - began);
    if (!made.ok || called.status !== 200) throw new Error(`A policy does not decide: ${made.status}, ${await called.text()}`);
    const { id } = (await made.json()) as { id: string };
    await fetch(`http://127.0.0.1:${port}/api/policies/${id}`, { method: 'DELETE', headers: { authorization: `Bearer ${admin}` } });
  }
  return median(took);
}
