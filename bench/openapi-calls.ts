/** `npm run bench:openapi`: the cost of calling an OpenAPI operation through Toolcrib. README.md says how to read it. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openApiDefinitionSchema } from '../packages/toolcrib/src/sources/openapi/openapi-definition.ts';
import type { SourceRecord } from '../packages/toolcrib/src/model/source.ts';
import { benchOptions } from './bench-options.ts';
import { echoRequests } from './echo-requests.ts';
import { startIssuer } from './issuer.ts';
import { startLoadProcess } from './load-process.ts';
import { startWithSources } from './mcp-toolcrib.ts';
import { baseline, measureCalls, overHttp, type CallFigures } from './measure-calls.ts';
import { pinToCore } from './pin-to-core.ts';
import { callCells, callHeads, countOf, table, verdictTable, type Target } from './report.ts';
import { recordedCalls } from './seed.ts';
import { startServerProcess } from './server-process.ts';
import { machine, writeResults } from './write-results.ts';

const options = benchOptions(process.argv.slice(2), { parts: ['calls'], name: 'openapi-calls', users: 200 });
const script = (name: string) => fileURLToPath(new URL(`./servers/${name}.ts`, import.meta.url));
const name = 'toolcrib (openapi)';
/** The target ratio to bare Fastify at 32 connections. */
const wanted = 0.33;

await using cleanup = new AsyncDisposableStack();
const directory = cleanup.adopt(await mkdtemp(join(tmpdir(), 'toolcrib-bench-')), (path) => rm(path, { recursive: true, force: true }));
const issuer = cleanup.use(await startIssuer());
const load = cleanup.use(startLoadProcess());
const bare = cleanup.use(await startServerProcess({ args: (port) => [script(baseline), String(port)] }));
/** It runs on the core of the load program, so that Toolcrib has the other core to itself, as the bare server has. */
const service = cleanup.use(await startServerProcess({ args: (port) => [script('openapi-echo'), String(port)] }));
pinToCore(service.pid, 1);

const source: SourceRecord = {
  id: randomUUID(),
  name: 'echo',
  namespace: 'echo',
  source_type: 'openapi',
  enabled: true,
  definition: openApiDefinitionSchema.parse({
    document: { url: `http://127.0.0.1:${service.port}/openapi.json` },
    credential: { type: 'bearer', token: { value: 'the token of the source' } },
  }),
  managed_by: null,
  created_at: 1,
  updated_at: 1,
};
const { server, place } = await startWithSources(issuer, join(directory, 'toolcrib'), [source]);
cleanup.use(server);

// The service answers with JSON, which is the result: exactly what the bare server answers.
const { toEcho } = echoRequests(issuer, options.users);
const contestants = [
  overHttp({ load, name: baseline, server: bare, requests: toEcho }),
  overHttp({ load, name, server, requests: toEcho, companions: [service.pid] }),
];
const { figures, turns, answered } = await measureCalls(contestants, { ...options, firstWarmUpSeconds: 2 });
const own = figures.find((row) => row.name === name && row.connections === 32);
const ratio = own?.ratio_to_fastify ?? 0;
const targets: Target[] = [
  { target: `32 connections: at least ${wanted} of bare Fastify`, measured: ratio.toFixed(2), met: ratio >= wanted },
];
const command = ['npm run bench:openapi', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' ');
await server.stop();
const [expected, recorded] = [answered.get(name) ?? 0, await recordedCalls(place)];
if (recorded !== expected) throw new Error(`Toolcrib got ${expected} calls but recorded ${recorded}`);
await writeResults(options.name, { measured_at: new Date().toISOString(), machine, command, turns, calls: figures, targets });
console.log([`${machine}; \`${command}\``, ...[32, 1].map(tableOf), verdictTable(targets)].join('\n\n'));

function tableOf(connections: number): string {
  const heads = [
    countOf(connections),
    ...callHeads,
    'of the service: CPU s per 1,000 calls',
    'memory under load MB',
    'cores: anything else',
  ];
  const rows = figures.filter((row) => row.connections === connections);
  return table(heads, rows.map(cellsOf));
}

function cellsOf(row: CallFigures): (string | number | null)[] {
  return [row.name, ...callCells(row), row.upstream_cpu_seconds_per_1000_calls, row.memory_under_load_mb, row.other_cpu];
}
