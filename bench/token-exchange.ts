/** `npm run bench:exchange`: the cost of calling with an exchanged token of the caller. README.md says how to read it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { benchOptions } from './bench-options.ts';
import { startIssuer } from './issuer.ts';
import { startLoadProcess } from './load-process.ts';
import type { LoadReport, PreparedRequest } from './load.ts';
import { sourceOf, startWithSources } from './mcp-toolcrib.ts';
import { pinToCore } from './pin-to-core.ts';
import { postBytes } from './post-bytes.ts';
import { median, quantile } from './quantile.ts';
import { table, verdictTable, type Target } from './report.ts';
import { startServerProcess, type ServerProcess } from './server-process.ts';
import { claimsOf, userRole } from './users.ts';
import { machine, writeResults } from './write-results.ts';

const options = benchOptions(process.argv.slice(2), { parts: ['calls'], name: 'token-exchange', users: 1 });
/** Short, so that other load affects all kinds of one turn equally. */
const turnSeconds = 0.5;
/** How much a cached exchange may add, as a share of the same call without a gateway. */
const wanted = 0.1;

await using cleanup = new AsyncDisposableStack();
const directory = cleanup.adopt(await mkdtemp(join(tmpdir(), 'toolcrib-bench-')), (path) => rm(path, { recursive: true, force: true }));
const issuer = cleanup.use(await startIssuer());
const echo = fileURLToPath(new URL('./servers/mcp-echo-http.ts', import.meta.url));
const upstream = cleanup.use(await startServerProcess({ args: (port) => [echo, String(port)] }));
pinToCore(upstream.pid, 1);
const load = cleanup.use(startLoadProcess());

const reached = { kind: 'http', url: `http://127.0.0.1:${upstream.port}/mcp` } as const;
const { server } = await startWithSources(issuer, join(directory, 'toolcrib'), [
  sourceOf('bearer', reached, { credential: { type: 'bearer', token: { value: issuer.mint({ sub: 'service' }) } } }),
  sourceOf('exchange', reached, {
    credential: { type: 'token_exchange', audience: 'echo-api', client_id: 'toolcrib-gateway', client_secret: { value: 'a secret' } },
    discovery_credential: { type: 'none' },
  }),
]);
cleanup.use(server);

const users = Array.from({ length: options.users }, (_, index) => {
  const text = `user-${index}-`.padEnd(64, 'abcdefghijklmnopqrstuvwxyz');
  return { text, authorization: `Bearer ${issuer.mint(claimsOf(index, [userRole]))}` };
});
const through = (namespace: string): PreparedRequest[] =>
  users.map(({ text, authorization }) => ({
    bytes: postBytes('/api/bff/tools/call', { name: `${namespace}:echo`, arguments: { text } }, { authorization }),
    status: 200,
    expect: `"result":"${text}",`,
  }));
const straight: PreparedRequest[] = users.map(({ text, authorization }, id) => ({
  bytes: postBytes('/mcp', { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'echo', arguments: { text } } }, { authorization }),
  status: 200,
  expect: `"text":"${text}"`,
}));

const ways: Record<Way, { server: ServerProcess; companions: number[]; requests: PreparedRequest[] }> = {
  direct: { server: upstream, companions: [], requests: straight },
  bearer: { server, companions: [upstream.pid], requests: through('bearer') },
  exchange: { server, companions: [upstream.pid], requests: through('exchange') },
};
type Way = 'direct' | 'bearer' | 'exchange';
type Turn = Record<Way, LoadReport>;
const names: Way[] = ['direct', 'bearer', 'exchange'];

function run(way: Way, warmUpSeconds: number, measuredSeconds: number): Promise<LoadReport> {
  const { server: asked, companions, requests } = ways[way];
  // One connection: the time that one caller waits. Every user has called before the measured part, so that every token has been exchanged.
  const warmUp = { calls: requests.length, seconds: warmUpSeconds };
  const measured = { calls: 0, seconds: measuredSeconds };
  return load.run({ port: asked.port, pid: asked.pid, companions, connections: 1, requests, warmUp, measured });
}

// The first calls include compilation.
for (const way of names) await run(way, 3, 0);
const turns: Turn[] = [];
for (let made = 0; made < Math.round((options.rounds * options.seconds) / turnSeconds); made++) {
  const reports: Partial<Turn> = {};
  // The order changes, so that no kind always follows the same one.
  for (const way of made % 2 === 0 ? names : names.toReversed()) reports[way] = await run(way, 0, turnSeconds);
  turns.push(reports as Turn);
}

const rounded = (value: number) => Math.round(value * 1000) / 1000;
/** Over all turns together, because the ticks of the system are too coarse for one. NaN if it does not tell. */
const cpuOf = (way: Way) => {
  const seconds = turns.reduce((sum, turn) => sum + (turn[way].serverCpuSeconds ?? Number.NaN), 0);
  return seconds / turns.reduce((sum, turn) => sum + turn[way].calls, 0);
};
/** How much one kind adds to another, as a share of the same call without a gateway. */
function shareOf(way: Way, beside: Way) {
  const all = turns.map((turn) => (turn[way].p50Us - turn[beside].p50Us) / turn.direct.p50Us).toSorted((a, b) => a - b);
  const cpu = way === 'exchange' ? (cpuOf(way) - cpuOf(beside)) / cpuOf('direct') : Number.NaN;
  return {
    share: rounded(median(all)),
    middle_half: [rounded(quantile(all, 0.25)), rounded(quantile(all, 0.75))],
    cpu_share: Number.isNaN(cpu) ? null : rounded(cpu),
  };
}
const figures = {
  'Toolcrib with a bearer token of the source, beside no gateway': shareOf('bearer', 'direct'),
  'a cached exchange, beside a bearer token of the source': shareOf('exchange', 'bearer'),
};
const { share } = figures['a cached exchange, beside a bearer token of the source'];
const targets: Target[] = [
  { target: `a cached exchange adds less than ${wanted} of a direct call`, measured: share.toFixed(2), met: share < wanted },
];
const results = {
  measured_at: new Date().toISOString(),
  machine,
  command: ['npm run bench:exchange', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' '),
  turns: turns.length,
  figures,
  targets,
};
await writeResults(options.name, results);
const rows = Object.entries(figures).map(
  ([
    what,
    {
      share: of,
      middle_half: [low = 0, high = 0],
      cpu_share: cpu,
    },
  ]) => [what, `**${of.toFixed(2)}** (${low.toFixed(2)}–${high.toFixed(2)})`, cpu],
);
const heads = ['adds to the p50', '**of a direct call** (middle half)', "CPU, of a direct call's"];
console.log([`${machine}; \`${results.command}\``, table(heads, rows), verdictTable(targets)].join('\n\n'));
