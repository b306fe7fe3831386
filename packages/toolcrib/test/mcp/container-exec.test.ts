import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDockerEngine } from '../../src/net/docker/engine.ts';
import { startExecProcess } from '../../src/sources/mcp/container/exec-process.ts';
import { openGuard, type Guard } from '../../src/sources/mcp/container/guard.ts';
import { createServerLog } from '../../src/sources/upstream/logs/server-log.ts';
import { DockerEngine, inImage, type TestContainer } from '../fixtures/docker-engine.ts';
import { said } from '../fixtures/mcp/start-fixture.ts';
import { part } from '../parts.ts';
import { until, untilSeen } from '../running-server.ts';

const docker = part('docker');

describe.skipIf(!docker.available)('a server started by docker exec', () => {
  const daemon = new DockerEngine();
  const engine = createDockerEngine(process.env['DOCKER_HOST'], process.env);
  let container: TestContainer;
  let guard: Guard;

  beforeAll(async () => {
    if (!docker.available) return;
    container = await daemon.runContainer(docker.url);
    guard = await openGuard({ engine, containerId: container.name, user: null });
  });
  afterAll(async () => {
    await guard.close();
    await container[Symbol.asyncDispose]();
    engine.close();
  });

  /** What runs in the container beside our guards. */
  async function servers(): Promise<string[]> {
    const found = await daemon.processesIn(container.name);
    return found.map(({ command }) => command).filter((command) => !/^(?:\/bin\/sh -c\s+trap|sleep [\d.]+$)/.test(command));
  }

  async function start(command: string[], options: { env?: Record<string, string>; user?: string; workdir?: string; guard?: Guard } = {}) {
    const log = createServerLog({ redact: (text) => text });
    const { env = {}, user = null, workdir = null } = options;
    const { signal } = new AbortController();
    const place = { engine, containerId: container.name, guard: options.guard ?? guard, user, workdir };
    return { log, server: await startExecProcess({ ...place, command, env, log, signal }) };
  }

  async function outputOf(command: string[], options: Parameters<typeof start>[1] = {}): Promise<string> {
    const { server } = await start(command, options);
    const pieces = (await server.stdout.toArray()) as Buffer[];
    await server.stop();
    return Buffer.concat(pieces).toString('utf8');
  }

  test('[MCP-4] has separate output, errors and exit code', async () => {
    const { log, server } = await start(['sh', '-c', 'echo out; echo err >&2; read line; echo "heard $line"; exit 7']);
    server.stdin.write('hello\n');
    const pieces = (await server.stdout.toArray()) as Buffer[];
    expect(Buffer.concat(pieces).toString()).toBe('out\nheard hello\n');
    expect(await server.exited).toEqual({ code: 7, signal: null });
    expect(server.lastWords(5)).toEqual(['err']);
    expect(log.tail(9).map(({ text }) => text)).toEqual([
      `Process ${server.pid} in the container started.`,
      'err',
      `Process ${server.pid} in the container ended with code 7.`,
    ]);
    await server.stop();
  });

  test('[SRC-3] has the environment, user and directory it was given, and nothing of this machine', async () => {
    const options = { env: { GREETING: 'a "b" $c\nd' }, user: 'node', workdir: '/tmp' };
    const ownGuard = await openGuard({ engine, containerId: container.name, user: 'node' });
    const told = await outputOf(['sh', '-c', 'echo "$GREETING"; id -un; pwd; env'], { ...options, guard: ownGuard });
    expect(told).toMatch(/^a "b" \$c\nd\nnode\n\/tmp\n/);
    expect(told).not.toContain('VITEST');
    await ownGuard.close();
  });

  test('[MCP-4] gets its arguments unchanged, without a shell', async () => {
    expect(await outputOf(['printf', '%s|', '$(id)', "a'b", '; exit', '-n', ''])).toBe("$(id)|a'b|; exit|-n||");
  });

  test('[MCP-4] waits while nobody reads its output, and none of it is lost', async () => {
    const bytes = 40 * 1024 * 1024;
    const { server } = await start(['sh', '-c', `head -c ${bytes} /dev/zero; echo done >&2`]);
    // It fills the pipes between, and no more.
    await untilSeen(() => server.stdout.readableLength > 0);
    const held: number[] = [];
    for (let look = 0; look < 20; look++) {
      await new Promise((resolve) => setImmediate(resolve));
      held.push(server.stdout.readableLength);
    }
    expect(Math.max(...held)).toBeLessThan(bytes / 10);
    expect(server.lastWords(1)).toEqual([]);
    let read = 0;
    for await (const piece of server.stdout as AsyncIterable<Buffer>) read += piece.length;
    expect(read).toBe(bytes);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.lastWords(1)).toEqual(['done']);
    await server.stop();
  });

  test('[MCP-4] gets all of its input, even if it reads slowly', async () => {
    const bytes = 20 * 1024 * 1024;
    const { server } = await start(['sh', '-c', 'sleep 0.3; wc -c']);
    expect(server.stdin.write(Buffer.alloc(bytes))).toBe(false);
    server.stdin.end();
    const pieces = (await server.stdout.toArray()) as Buffer[];
    expect(Number(Buffer.concat(pieces).toString())).toBe(bytes);
    await server.stop();
  });

  test('[MCP-4] that floods standard error fills no memory and holds nothing up', async () => {
    const { log, server } = await start(inImage.fixture('flood-stderr'));
    await said(log, 'ready');
    const answered = once(server.stdout, 'data') as Promise<[Buffer]>;
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
    expect(String((await answered)[0])).toContain('"id":1');
    await server.stop();
    expect(await servers()).toEqual([]);
  });

  test.each([
    ['one that leaves when its input closes', ['plain']],
    ['one that ignores its input and SIGTERM', ['stubborn']],
    ['one with children that ignore SIGTERM', ['forks', '3']],
    ['one with children that have left its session', ['forks', '2', 'setsid']],
    ['one whose every process ignores SIGTERM', ['forks', '2', 'stubborn', 'setsid']],
  ])('[MCP-4] is really ended by closing: %s', async (_, mode) => {
    const { log, server } = await start(inImage.fixture(...mode));
    await said(log, 'ready');
    expect(await servers()).not.toEqual([]);
    await server.stop();
    expect(await servers()).toEqual([]);
  });

  test('[MCP-4] leaves none of its children when it ends by itself', async () => {
    const { server } = await start(['sh', '-c', 'sleep 4321 >/dev/null 2>&1 & exit 3']);
    expect(await server.exited).toMatchObject({ code: 3 });
    await server.stop();
    expect((await daemon.processesIn(container.name)).filter(({ command }) => command === 'sleep 4321')).toEqual([]);
  });

  test('[MCP-4] is ended even if its guard was ended before it', async () => {
    const ownGuard = await openGuard({ engine, containerId: container.name, user: null });
    const before = new Set((await daemon.processesIn(container.name)).map(({ pid }) => pid));
    const { log, server } = await start(inImage.fixture('stubborn'), { guard: ownGuard });
    await said(log, 'ready');
    const guards = (await daemon.processesIn(container.name)).filter(({ pid, command }) => before.has(pid) && command.includes('trap'));
    const youngest = Math.max(...guards.map(({ pid }) => pid));
    await daemon.docker('exec', container.name, 'kill', '-KILL', String(youngest));
    await ownGuard.lost;
    await server.stop();
    expect(await servers()).toEqual([]);
  });

  test('[MCP-4] leaves nothing when the gateway is killed', async () => {
    const program = join(import.meta.dirname, '..', 'fixtures', 'exec-stubborn-server.ts');
    const gateway = spawn(process.execPath, [program, container.name], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface({ input: gateway.stdout }), 'line')) as [string];
    expect(line).toBe('ready');
    expect(await servers()).not.toEqual([]);
    gateway.kill('SIGKILL');
    await until(async () => (await servers()).length === 0);
  });

  test('[MCP-4] that is given up before it has begun does not begin', async () => {
    const given = new AbortController();
    const log = createServerLog({ redact: (text) => text });
    const place = { engine, containerId: container.name, guard, user: null, workdir: null };
    const starting = startExecProcess({ ...place, command: ['sleep', '4242'], env: {}, log, signal: given.signal });
    given.abort(new Error('enough'));
    await expect(starting).rejects.toThrow('enough');
    expect((await daemon.processesIn(container.name)).filter(({ command }) => command.includes('4242'))).toEqual([]);
  });

  test.each([
    ['a user there is none of', { user: 'nobody-here' }, { code: 'NOT_FOUND', field: 'mcp_container.user' }],
    ['a directory there is none of', { workdir: '/etc/passwd/x' }, { code: 'NOT_FOUND', field: 'mcp_container.workdir' }],
  ])('[ERR-1] names the cause: %s', async (_, options, error) => {
    await expect(start(['cat'], options)).rejects.toMatchObject(error);
  });

  test('[ERR-5] reports a container that stops in the middle', async () => {
    if (!docker.available) return;
    await using doomed = await daemon.runContainer(docker.url);
    const ownGuard = await openGuard({ engine, containerId: doomed.name, user: null });
    const log = createServerLog({ redact: (text) => text });
    const { signal } = new AbortController();
    const place = { engine, containerId: doomed.name, guard: ownGuard, user: null, workdir: null };
    const server = await startExecProcess({ ...place, command: ['sleep', '1000'], env: {}, log, signal });
    await daemon.docker('kill', doomed.name);
    expect(await server.exited).toMatchObject({ reason: 'was ended, because its container stopped' });
    await ownGuard.lost;
    await server.stop();
  });
});
