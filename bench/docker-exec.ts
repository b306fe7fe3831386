/** `npm run bench:docker`: the cost of a call that starts its server in a container, with and without Toolcrib. README.md says how to read it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DockerEngine, inImage } from '../packages/toolcrib/test/fixtures/docker-engine.ts';
import { callByCommand, callByExec } from './bare-mcp.ts';
import { dockerTargets, dockerToMarkdown, figuresOf, type DockerResults, type Sample } from './docker-report.ts';
import { startIssuer } from './issuer.ts';
import { sourceOf, startWithSources } from './mcp-toolcrib.ts';
import { claimsOf, userRole } from './users.ts';
import { machine, writeResults } from './write-results.ts';

const { values } = parseArgs({ options: { samples: { type: 'string', default: '40' }, name: { type: 'string', default: 'docker-exec' } } });
const image = process.env.TOOLCRIB_TEST_DOCKER_IMAGE ?? '';
if (image === '') throw new Error('TOOLCRIB_TEST_DOCKER_IMAGE is not set: `.ci/docker-up.sh up` prints its value');
const host = process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock';
if (!host.startsWith('unix://')) throw new Error(`The bench needs Docker on a unix socket, but DOCKER_HOST is ${host}`);
const socketPath = host.slice('unix://'.length);

/** Long enough to replace a used standby, and for everything of the previous call to be gone. */
const restMs = 700;
const servers = [
  { server: 'a small server', key: 'small', command: inImage.fixture('plain'), argument: 'text' },
  { server: 'server-everything', key: 'everything', command: inImage.everything, argument: 'message' },
] as const;
/** The flags that Toolcrib uses for the container of a docker package, the same for both sides. */
const hardened = ['--network', 'none', '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];
const limited = ['--memory', '512m', '--memory-swap', '512m', '--cpus', '1', '--pids-limit', '256'];
const runInOwn = (command: readonly string[]) => [
  'docker',
  'run',
  '--rm',
  '-i',
  '--init',
  ...hardened,
  ...limited,
  image,
  ...command.slice(1),
];

await using cleanup = new AsyncDisposableStack();
const directory = cleanup.adopt(await mkdtemp(join(tmpdir(), 'toolcrib-bench-')), (path) => rm(path, { recursive: true, force: true }));
const issuer = cleanup.use(await startIssuer());
const container = cleanup.use(await new DockerEngine().runContainer(image));

const sources = servers.flatMap(({ key, command }) => [
  sourceOf(`${key}-fresh`, { kind: 'exec', container: container.name, command: [...command] }, { lifecycle_mode: 'transient', standby: 0 }),
  sourceOf(`${key}-ahead`, { kind: 'exec', container: container.name, command: [...command] }, { lifecycle_mode: 'transient', standby: 2 }),
  sourceOf(`${key}-run`, { kind: 'stdio', command: runInOwn(command) }, { lifecycle_mode: 'transient', standby: 0 }),
]);
const { server } = await startWithSources(issuer, join(directory, 'toolcrib'), sources);
cleanup.use(server);
const token = issuer.mint(claimsOf(0, [userRole]));

const samples: Sample[] = [];
// The first call of each kind includes compilation.
for (let round = 0; round <= Number(values.samples); round++) {
  for (const { server, key, command, argument } of servers) {
    const wanted = { arguments: { [argument]: 'hello' } };
    const ways = {
      'exec, bare': async () => (await callByExec({ ...wanted, socketPath, container: container.name, command: [...command] })).took,
      'exec, Toolcrib': () => callThrough(`${key}-fresh`, wanted),
      'exec, Toolcrib, 2 standing by': () => callThrough(`${key}-ahead`, wanted),
      'run, bare': async () => (await callByCommand({ ...wanted, command: runInOwn(command) })).took,
      'run, Toolcrib': () => callThrough(`${key}-run`, wanted),
    };
    const turns = Object.entries(ways);
    // The order changes, so that no kind always follows the same one.
    if (round % 2 === 1) turns.reverse();
    for (const [way, call] of turns) {
      const took = await call();
      if (round > 0) samples.push({ server, way, round, took });
      await sleep(restMs);
    }
  }
}

async function callThrough(namespace: string, { arguments: args }: { arguments: object }): Promise<number> {
  const began = performance.now();
  const response = await fetch(`http://127.0.0.1:${server.port}/api/bff/tools/call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ name: `${namespace}:echo`, arguments: args }),
  });
  const answer = (await response.json()) as { success?: boolean };
  const took = performance.now() - began;
  if (answer.success !== true) throw new Error(`The call failed: ${JSON.stringify(answer)}`);
  return took;
}

const figures = figuresOf(samples);
const results: DockerResults = {
  measured_at: new Date().toISOString(),
  machine,
  command: ['npm run bench:docker', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' '),
  figures,
  targets: dockerTargets(figures),
};
await writeResults(values.name, results);
console.log(dockerToMarkdown(results));
