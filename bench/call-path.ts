/** `npm run bench`: what a call costs, against an echo on bare Fastify. README.md says how to read it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { benchOptions } from './bench-options.ts';
import { startIssuer, type BenchIssuer } from './issuer.ts';
import { startLoadProcess, type LoadProcess } from './load-process.ts';
import { baseline, measureCalls, overHttp, type Contestant } from './measure-calls.ts';
import { measureListing } from './measure-listing.ts';
import { measureStart, type StartFigures } from './measure-start.ts';
import { freshPostgres } from './postgres.ts';
import { setupOf, type ServerSetup } from './other-checkout.ts';
import { targets, toMarkdown, type Results } from './report.ts';
import { recordedCalls, seed, type DatabasePlace } from './seed.ts';
import { startServerProcess, type ServerProcess } from './server-process.ts';
import { fromSource, installCompiled, startToolcrib } from './toolcrib.ts';
import { callRequests, refusedRequest } from './users.ts';
import { machine, writeResults } from './write-results.ts';

const options = benchOptions(process.argv.slice(2), { parts: ['calls', 'start', 'list'], name: 'call-path', users: 1000 });
const script = (name: string) => fileURLToPath(new URL(`./servers/${name}.ts`, import.meta.url));

await using cleanup = new AsyncDisposableStack();
const directory = cleanup.adopt(await mkdtemp(join(tmpdir(), 'toolcrib-bench-')), (path) => rm(path, { recursive: true, force: true }));
const issuer = cleanup.use(await startIssuer());
const load = cleanup.use(startLoadProcess());
const postgres = cleanup.use(await freshPostgres(process.env['TOOLCRIB_TEST_POSTGRES_URL']));

const start = options.only.has('start') ? await starts(issuer) : [];
const { calls, turns } = options.only.has('calls') ? await callPath(issuer, load) : { calls: [], turns: { kept: 0, made: 0 } };
const list = options.only.has('list') ? await measureListing({ load, issuer, directory, seconds: options.seconds }) : [];

const results: Results = {
  measured_at: new Date().toISOString(),
  machine,
  command: ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' '),
  postgres: postgres?.settings ?? null,
  turns,
  calls,
  start,
  list,
  targets: targets({ calls, start, list }),
};
await writeResults(options.name, results);
console.log(toMarkdown(results));

async function starts({ issuer }: BenchIssuer): Promise<StartFigures[]> {
  const figures = [await measureStart({ form: 'source', program: fromSource, issuer, directory })];
  const compiled = await installCompiled(join(directory, 'installed'));
  if (compiled === undefined) console.error('not compiled: run `npm run build -w toolcrib` to measure the compiled package too');
  else figures.push(await measureStart({ form: 'compiled', program: compiled, issuer, directory }));
  return figures;
}

async function callPath(issuer: BenchIssuer, load: LoadProcess): Promise<Pick<Results, 'calls' | 'turns'>> {
  await using servers = new AsyncDisposableStack();
  const { toToolcrib, toEcho } = callRequests(issuer, options.users);
  const contestants: Contestant[] = [];
  const places = new Map<string, DatabasePlace>();
  const refused = new Map<string, number>();
  for (const name of ['node-http-echo', baseline]) {
    const server = servers.use(await startServerProcess({ args: (port) => [script(name), String(port)] }));
    contestants.push(overHttp({ load, name, server, requests: toEcho }));
  }
  const addToolcrib = async (
    name: string,
    databaseUrl?: string,
    setup: Pick<ServerSetup, 'seed' | 'startToolcrib'> = { seed, startToolcrib },
  ) => {
    const dataDir = join(directory, name);
    const place = databaseUrl === undefined ? { file: join(dataDir, 'toolcrib.db') } : { url: databaseUrl };
    await setup.seed(place, {});
    const server = servers.use(
      await setup.startToolcrib({ issuer: issuer.issuer, dataDir, ...(databaseUrl === undefined ? {} : { databaseUrl }) }),
    );
    refused.set(name, await provePolicyDecides(server, issuer, load));
    contestants.push({ ...overHttp({ load, name, server, requests: toToolcrib }), hasCompanion: databaseUrl !== undefined });
    places.set(name, place);
  };
  await addToolcrib('toolcrib-sqlite');
  if (options.beside !== undefined) await addToolcrib('toolcrib-sqlite-beside', undefined, await setupOf(options.beside));
  if (postgres === undefined) console.error('no PostgreSQL: set TOOLCRIB_TEST_POSTGRES_URL to measure it too');
  else await addToolcrib('toolcrib-postgres', postgres.url);

  const { figures, turns, answered } = await measureCalls(contestants, options);
  await servers.disposeAsync();
  for (const [name, place] of places) {
    const expected = (answered.get(name) ?? 0) + (refused.get(name) ?? 0);
    const recorded = await recordedCalls(place);
    if (recorded !== expected) throw new Error(`${name} got ${expected} calls but recorded ${recorded}`);
  }
  return { calls: figures, turns };
}

/** Returns how many calls were refused, because the record holds them too. */
async function provePolicyDecides({ port, pid }: ServerProcess, issuer: BenchIssuer, load: LoadProcess): Promise<number> {
  const once = { calls: 1, seconds: 0 };
  const requests = [refusedRequest(issuer)];
  const { allCalls } = await load.run({ port, pid, connections: 1, requests, warmUp: once, measured: once });
  return allCalls;
}
