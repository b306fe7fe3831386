/**
 * `npm run call-path`: which files and functions of the server a warm call over stdio runs through, by V8's own count. It says how long
 * the path is that a reader has to follow; README.md of this folder says how fast it is.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer } from '../packages/toolcrib/src/server/start-server.ts';

const source = fileURLToPath(new URL('../packages/toolcrib/src', import.meta.url));
const server = fileURLToPath(new URL('./servers/mcp-echo-stdio.ts', import.meta.url));
const warmUpCalls = 50;
/** A call shares the event loop with timers and the record's batches: what several calls have in common is the path. */
const measuredCalls = 5;

await using cleanup = new AsyncDisposableStack();
const dataDir = cleanup.adopt(await mkdtemp(join(tmpdir(), 'toolcrib-path-')), (path) => rm(path, { recursive: true, force: true }));
const running = cleanup.adopt(
  await startServer({ port: 0, dataDir, logLevel: 'silent', pinning: 'off', principalLimits: {}, requestLimits: {}, drainMs: 0 }),
  (started) => started.close(),
);
const tokens = { admin: await running.mint?.('admin'), alice: await running.mint?.('alice') };

async function post(path: string, body: object, token: string | undefined): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const answer = await fetch(`${running.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await answer.json()) as Record<string, unknown>;
}

const registration = { name: 'echo', mcp_command: [process.execPath, server], mcp_lifecycle_mode: 'singleton' };
await post('/api/sources?wait=30000', registration, tokens.admin);
await post('/api/groups', { id: 'echo', name: 'Echo', selectors: [{ source: 'echo' }] }, tokens.admin);
const everybody = [{ path: 'sub', operator: 'exists' }];
await post('/api/policies', { id: 'echo', name: 'Echo', matchers: everybody, groups: ['echo'] }, tokens.admin);
const call = () => post('/api/bff/tools/call', { name: 'echo:echo', arguments: { text: 'hello' } }, tokens.alice);
for (let count = 0; count < warmUpCalls; count++) {
  const { success } = await call();
  if (success !== true) throw new Error('The echo server does not answer');
}

const session = new Session();
session.connect();
await session.post('Profiler.enable');
let common: Set<string> | undefined;
for (let count = 0; count < measuredCalls; count++) {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await call();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  const ran = new Set(
    result
      .filter(({ url }) => url.startsWith('file:') && fileURLToPath(url).startsWith(source))
      .flatMap(({ url, functions }) => {
        const file = relative(source, fileURLToPath(url));
        return functions
          .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
          .map(({ functionName, ranges }) => `${file} ${functionName === '' ? `(anonymous at ${ranges[0]?.startOffset})` : functionName}`);
      }),
  );
  common = common === undefined ? ran : new Set([...common].filter((name) => ran.has(name)));
}
session.disconnect();

const byFile = Map.groupBy(common ?? [], (name) => name.slice(0, name.indexOf(' ')));
for (const [file, names] of [...byFile].sort(([a], [b]) => (a < b ? -1 : 1))) {
  console.log(`${file}: ${names.map((name) => name.slice(file.length + 1)).join(', ')}`);
}
console.log(`\n${byFile.size} files, ${common?.size ?? 0} functions`);
