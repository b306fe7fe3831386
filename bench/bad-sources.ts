/** `npm run bench:bad-sources`: how much sources that hang, crash or do not exist cost the others. README.md says how to read it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ApiClient } from '../packages/toolcrib/test/fixtures/api-client.ts';
import { fixture, grantEverything } from '../packages/toolcrib/test/fixtures/open-server.ts';
import { devToken } from '../packages/toolcrib/test/running-server.ts';
import { median, quantile } from './quantile.ts';
import { startServerProcess } from './server-process.ts';
import { fromSource } from './toolcrib.ts';

type Form = Record<string, unknown>;

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10' }, name: { type: 'string', default: 'bad-sources' } } });
const rounds = Number(values.rounds);
const each = 10;
const singleton = { mcp_lifecycle_mode: 'singleton' };
const ten = (name: string, command: string[]) =>
  Array.from({ length: each }, (_, index): Form => ({ name: `${name} ${index}`, mcp_command: command, ...singleton }));

const well = ten('Well', fixture('plain'));
const missing = ten('Missing', ['/no/such/program']);
/** The sources beside the ten that work. */
const company: Record<string, Form[]> = {
  none: [],
  'small programs': [...ten('Hangs', ['/usr/bin/tail', '-f', '/dev/null']), ...ten('Crashes', ['/bin/false']), ...missing],
  'Node programs': [...ten('Hangs', fixture('hang-handshake')), ...ten('Crashes', fixture('crash-handshake')), ...missing],
};

await using cleanup = new AsyncDisposableStack();
const directory = cleanup.adopt(await mkdtemp(join(tmpdir(), 'toolcrib-bench-')), (path) => rm(path, { recursive: true, force: true }));
const unlimited = ['--principal-rate', '0', '--principal-concurrency', '0'];
const server = cleanup.use(
  await startServerProcess({ args: (port) => [fromSource, 'serve', '--port', String(port), '--data', directory, ...unlimited] }),
);
const url = `http://127.0.0.1:${server.port}`;
const admin = new ApiClient(url, await devToken(url, 'admin'));
const alice = new ApiClient(url, await devToken(url, 'alice'));
await grantEverything(admin);

/** Registers all of them at once, the bad ones first, and waits until every good one has answered a call. */
async function measure(bad: Form[]): Promise<number> {
  const began = performance.now();
  const registered = bad.map((form) => admin.post('/api/sources', form));
  await Promise.all(well.map(async (form) => callable(form)));
  const took = performance.now() - began;
  await Promise.all(registered);
  const { sources } = (await admin.get('/api/sources')).json as { sources: { id: string; namespace: string }[] };
  await Promise.all(sources.filter(({ namespace }) => namespace !== 'builtin').map(({ id }) => admin.delete(`/api/sources/${id}`)));
  return took;
}

async function callable(form: Form): Promise<void> {
  const { json: source } = await admin.post('/api/sources?wait=60000', form);
  const { json: answer } = await alice.call(`${source.namespace}:echo`, { text: 'well' });
  if (answer.text !== 'well') throw new Error(`The source did not answer: ${JSON.stringify([source, answer])}`);
}

// The first round loads and compiles the code that all others use.
await measure([]);
const took = new Map(Object.keys(company).map((name): [string, number[]] => [name, []]));
for (let round = 0; round < rounds; round++) {
  for (const [name, bad] of Object.entries(company)) took.get(name)?.push(await measure(bad));
  console.error(`round ${round + 1}: ${[...took].map(([name, times]) => `${name} ${Math.round(times.at(-1) ?? 0)} ms`).join(', ')}`);
}

const alone = took.get('none') ?? [];
const figures = [...took].map(([name, times]) => {
  const ratios = times.map((time, round) => time / (alone[round] ?? Number.NaN)).sort((a, b) => a - b);
  const of = (part: number) => Number(quantile(ratios, part).toFixed(2));
  return { beside: name, ready_ms: Math.round(median(times)), ratio: of(0.5), middle_half: `${of(0.25)}–${of(0.75)}` };
});
const machine = `${availableParallelism()} cores; Node ${process.versions.node}; ${process.platform} ${process.arch}`;
const results = { measured_at: new Date().toISOString(), machine, rounds, figures };
await writeFile(new URL(`./results/${values.name}.json`, import.meta.url), `${JSON.stringify(results, null, 2)}\n`);
console.log(`${machine}; ${rounds} rounds\n`);
console.log('| beside the ten that work | ready after ms | **of alone** (middle half) |\n|---|---:|---:|');
for (const { beside, ready_ms, ratio, middle_half } of figures) console.log(`| ${beside} | ${ready_ms} | **${ratio}** (${middle_half}) |`);
