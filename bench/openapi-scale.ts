/** `npm run bench:openapi-scale`: how much a large document costs users of ten of its tools. README.md says how to read it. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startIssuer, type BenchIssuer } from './issuer.ts';
import { startLoadProcess } from './load-process.ts';
import type { PreparedRequest } from './load.ts';
import { pinToCore } from './pin-to-core.ts';
import { postBytes } from './post-bytes.ts';
import { processUsage } from './process-usage.ts';
import { median, quantile } from './quantile.ts';
import { table, verdictTable, type Target } from './report.ts';
import { startServerProcess, type ServerProcess } from './server-process.ts';
import { startToolcrib } from './toolcrib.ts';
import { claimsOf, listBytes, userRole } from './users.ts';
import { machine, writeResults } from './write-results.ts';

const { values: options } = parseArgs({
  options: {
    document: { type: 'string', default: fileURLToPath(new URL('../../shared/corpus/openapi/github-api-3.0.json', import.meta.url)) },
    turns: { type: 'string', default: '30' },
    name: { type: 'string', default: 'openapi-scale' },
  },
});
/** Short, so that other load affects both servers equally. */
const turnSeconds = 0.3;
/** The tools of the user: one server has nothing else, the other has the whole document. */
const granted = ['emojis/get', 'gitignore/*', 'licenses/*', 'meta/*'];
const called = 'emojis_get';
/** How much slower the large one may be before we call it slower. */
const asFast = 1.1;

await using cleanup = new AsyncDisposableStack();
const directory = cleanup.adopt(await mkdtemp(join(tmpdir(), 'toolcrib-bench-')), (path) => rm(path, { recursive: true, force: true }));
const issuer = cleanup.use(await startIssuer());
const echo = fileURLToPath(new URL('./servers/node-http-echo.ts', import.meta.url));
const upstream = cleanup.use(await startServerProcess({ args: (port) => [echo, String(port)] }));
pinToCore(upstream.pid, 1);
const load = cleanup.use(startLoadProcess());
const text = await readFile(options.document, 'utf8');

const few = await startWith('few', granted.map(toolName));
const all = await startWith('all', []);
const token = issuer.mint(claimsOf(0, [userRole]));
const authorization = `Bearer ${token}`;
const kinds: Record<string, PreparedRequest> = {
  list: { bytes: listBytes(token), status: 200, expect: `"total":${few.visible}` },
  search: { bytes: listBytes(token).replace('/api/bff/tools', '/api/bff/tools?q=license'), status: 200, expect: '"tools":[' },
  call: {
    bytes: postBytes('/api/bff/tools/call', { name: `api:${called}`, arguments: {} }, { authorization }),
    status: 200,
    expect: '"success":true',
  },
};

interface Figure {
  what: string;
  few_p50_us: number;
  all_p50_us: number;
  /** The ratio of the large one to the small one in the same turn: the median of all turns, and the middle half. */
  ratio: number;
  quartiles: [number, number];
}
const figures: Figure[] = [];
for (const [what, request] of Object.entries(kinds)) figures.push(await compare(what, request));

const importFigures = { tools: all.tools, import_seconds: all.seconds, memory_growth_mb: all.growthMb };
const targets: Target[] = [
  { target: `${all.tools} tools are imported in less than 2 s`, measured: `${all.seconds} s`, met: all.seconds < 2 },
  { target: 'that takes less than 400 MB at its highest', measured: `${all.growthMb} MB`, met: all.growthMb < 400 },
  ...figures.map(({ what, ratio }) => ({
    target: `${what}: no slower than with ${few.tools} tools, within a tenth`,
    measured: ratio.toFixed(2),
    met: ratio <= asFast,
  })),
];
await writeResults(options.name, { measured_at: new Date().toISOString(), machine, import: importFigures, figures, targets });
console.log(
  table(
    ['', `p50 with ${few.tools} tools, µs`, `p50 with ${all.tools} tools, µs`, 'ratio', 'middle half'],
    figures.map(({ what, few_p50_us, all_p50_us, ratio, quartiles }) => [what, few_p50_us, all_p50_us, ratio, quartiles.join(' to ')]),
  ),
);
console.log(verdictTable(targets));

async function compare(what: string, request: PreparedRequest): Promise<Figure> {
  const turns: { few: number; all: number }[] = [];
  const measure = async ({ server: { port, pid } }: Started, seconds: number) => {
    const warmUp = { calls: 50, seconds: 0 };
    const companions = [upstream.pid];
    return load.run({ port, pid, companions, connections: 1, requests: [request], warmUp, measured: { calls: 20, seconds } });
  };
  for (const started of [few, all]) await measure(started, 2);
  for (let turn = 0; turn < Number(options.turns); turn++) {
    const p50: Record<'few' | 'all', number> = { few: 0, all: 0 };
    const order = turn % 2 === 0 ? (['few', 'all'] as const) : (['all', 'few'] as const);
    for (const which of order) p50[which] = (await measure(which === 'few' ? few : all, turnSeconds)).p50Us;
    turns.push(p50);
  }
  const ratios = turns.map((turn) => turn.all / turn.few).sort((a, b) => a - b);
  const two = (value: number) => Math.round(value * 100) / 100;
  const figure = {
    what,
    few_p50_us: Math.round(median(turns.map((turn) => turn.few))),
    all_p50_us: Math.round(median(turns.map((turn) => turn.all))),
    ratio: two(median(ratios)),
    quartiles: [two(quantile(ratios, 0.25)), two(quantile(ratios, 0.75))] as [number, number],
  };
  console.error(`${what}: ${figure.few_p50_us} µs and ${figure.all_p50_us} µs`);
  return figure;
}

interface Started {
  server: ServerProcess;
  tools: number;
  /** How many of those the user sees. */
  visible: number;
  seconds: number;
  growthMb: number;
}

/** A server with the document, with these of its tools or all, and the same user who may use the same ten. */
async function startWith(name: string, include: string[]): Promise<Started> {
  const server = cleanup.use(await startToolcrib({ issuer: issuer.issuer, dataDir: join(directory, name) }));
  const post = (path: string, body: object | string) => administer(server, issuer, path, body);
  const before = processUsage(server.pid)?.rssMb ?? Number.NaN;
  let highest = before;
  const watch = setInterval(() => (highest = Math.max(highest, processUsage(server.pid)?.rssMb ?? 0)), 20);
  const openapi = { text, server_url: `http://127.0.0.1:${upstream.port}` };
  const form = JSON.stringify({ name: 'API', source_type: 'openapi', openapi, tools: { include } });
  const began = performance.now();
  const source = await post('/api/sources?wait=60000', form);
  const seconds = Math.round(performance.now() - began) / 1000;
  clearInterval(watch);
  const { status } = source as { status: { state: string; tools: number } };
  if (status.state !== 'running') throw new Error(`The document was not imported: ${JSON.stringify(status)}`);
  const selectors = granted.map((glob) => ({ name: toolName(glob) }));
  const group = (await post('/api/groups', { name: 'Some', selectors })) as { id: string };
  await post('/api/policies', {
    name: 'Users',
    matchers: [{ path: 'realm_access.roles', operator: 'contains', value: userRole }],
    groups: [group.id],
  });
  const headers = { authorization: `Bearer ${issuer.mint(claimsOf(0, [userRole]))}` };
  const { total } = (await (await fetch(`http://127.0.0.1:${server.port}/api/bff/tools`, { headers })).json()) as { total: number };
  console.error(`${name}: ${status.tools} tools in ${seconds} s, ${total} of them for the user`);
  return { server, tools: status.tools, visible: total, seconds, growthMb: Math.round(highest - before) };
}

async function administer({ port }: ServerProcess, { mint }: BenchIssuer, path: string, body: object | string): Promise<unknown> {
  const headers = { authorization: `Bearer ${mint(claimsOf(0, ['toolcrib-admin']))}`, 'content-type': 'application/json' };
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: sent });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Operation ids of this document contain slashes, which no tool name has. */
function toolName(glob: string): string {
  return glob.replaceAll('/', '_');
}
