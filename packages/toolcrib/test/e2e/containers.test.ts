import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { DockerEngine, inImage, type TestContainer } from '../fixtures/docker-engine.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { part } from '../parts.ts';
import { until } from '../running-server.ts';

const docker = part('docker');
const image = docker.available ? docker.url : '';
const engine = new DockerEngine();
let server: OpenServer;
let admin: ApiClient;
let alice: ApiClient;
let container: TestContainer;

beforeAll(async () => {
  if (!docker.available) return;
  server = await startOpenServer();
  ({ admin, alice } = server);
  container = await engine.runContainer(image);
});
afterAll(async () => {
  if (!docker.available) return;
  await server[Symbol.asyncDispose]();
  await container[Symbol.asyncDispose]();
});

/** Registers a server, and takes it away again at the end of the test. */
async function register(form: object) {
  const { json } = await admin.post('/api/sources?wait=60000', form);
  expect(json).toMatchObject({ status: { state: 'running' } });
  return {
    id: json.id as string,
    namespace: json.namespace as string,
    tools: json.status.tools as number,
    call: async (tool: string, args: object = {}, more: object = {}) => (await alice.call(`${json.namespace}:${tool}`, args, more)).json,
    [Symbol.asyncDispose]: async () => void (await admin.delete(`/api/sources/${json.namespace}`)),
  };
}

const attached = (command: string[], more: object = {}) => ({ mcp_container: { container: container.name, command, ...more } });
const made = (command: string[], more: object = {}) => ({ mcp_container: { image, command, ...more } });
/** The image starts Node, so that what is given to it is a program for Node. */
const packaged = ([, ...args]: string[]) => ({
  mcp: { package: { package_type: 'docker', identifier: image, args }, transport: { type: 'stdio' } },
});
const ways = { 'a running container': attached, 'a container made for it': made, 'a docker package': packaged };
const lifecycles = {
  transient: { mcp_lifecycle_mode: 'transient' },
  'transient with standbys': { mcp_lifecycle_mode: 'transient', standby: 2 },
  singleton: { mcp_lifecycle_mode: 'singleton' },
};
const every = Object.entries(ways).flatMap(([way, form]) =>
  Object.entries(lifecycles).map(([mode, lifecycle]) => ({ way, form, mode, lifecycle })),
);
const containersOf = ({ id }: { id: string }) => engine.containersWithLabel(`dev.toolcrib.source=${id}`);

describe.skipIf(!docker.available)('a server in a container', () => {
  test.each(every)(
    '[MCP-2] [MCP-4] [MCP-5] [SRC-3] in $way, $mode, is listed and called, and is gone afterwards',
    async ({ form, lifecycle }) => {
      for (const [name, command, tool, argument] of [
        ['Fixture', inImage.fixture('plain'), 'echo', 'text'],
        ['Everything', inImage.everything, 'echo', 'message'],
      ] as const) {
        const source = await register({ name, ...form([...command]), ...lifecycle });
        expect(source.tools).toBeGreaterThan(5);
        expect(await alice.listedNames()).toContain(`${source.namespace}:${tool}`);
        for (const text of ['one', 'zwei ÄÖ', '三']) {
          expect(await source.call(tool, { [argument]: text })).toMatchObject({ success: true, text: expect.stringContaining(text) });
        }
        await source[Symbol.asyncDispose]();
        expect(await containersOf(source)).toEqual([]);
        expect(await engine.processesIn(container.name)).toEqual([]);
      }
    },
  );

  test.each(Object.entries(ways))(
    '[MCP-5] in %s has a new process for every call if transient, and always the same if singleton',
    async (_, form) => {
      // A program has the same number in every container of its own: there the name of the container tells them apart.
      const whoever = async (source: Awaited<ReturnType<typeof register>>) =>
        `${(await source.call('process')).result.pid} in ${(await source.call('environment')).result.HOSTNAME}`;
      for (const [mcp_lifecycle_mode, different] of [
        ['transient', 3],
        ['singleton', 1],
      ] as const) {
        await using source = await register({ name: 'Who', ...form(inImage.fixture('plain')), mcp_lifecycle_mode });
        const seen = [await whoever(source), await whoever(source), await whoever(source)];
        expect(new Set(seen).size).toBe(different);
      }
    },
  );

  test.each(['noise', 'content-length', 'batches', 'pages', 'flood-stderr', 'exit-on-unknown'])(
    '[MCP-3] [MCP-4] that behaves as the mode "%s" is understood',
    async (mode) => {
      await using source = await register({ name: 'Odd', ...attached(inImage.fixture(mode)), mcp_lifecycle_mode: 'singleton' });
      const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => source.call('echo', { text: `Ж${index}` })));
      expect(answers.map(({ text }) => text)).toEqual(Array.from({ length: 20 }, (_, index) => `Ж${index}`));
    },
  );

  test('[MCP-4] transfers megabytes in both directions, and progress while it runs', async () => {
    await using source = await register({ name: 'Much', ...attached(inImage.fixture('plain')) });
    const text = '€'.repeat(300_000);
    expect((await source.call('echo', { text })).text).toBe(text);
    const { text: huge } = await source.call('huge', { bytes: 1_000_000 });
    expect(huge).toHaveLength(1_000_000);
    await using stream = await alice.callStream('much:progress', { steps: 3 });
    const events = await stream.rest();
    expect(events.filter(({ event }) => event === 'progress')).toHaveLength(3);
    expect(events.at(-1)).toMatchObject({ event: 'result', data: { success: true } });
  });

  test('[SRC-3] [ENV-3] [ENV-4] has the environment, directory and user it was given, and nothing of this machine', async () => {
    await admin.put('/api/secrets/hush', { value: 'hush-hush-hush' });
    const env = { PLAIN: 'seen', TOKEN: { secret_ref: 'hush' } };
    for (const form of [attached, made]) {
      await using source = await register({ name: 'Env', ...form(inImage.fixture('plain'), { env, workdir: '/home/node', user: 'node' }) });
      const { result } = await source.call('environment');
      expect(result).toMatchObject({ PLAIN: 'seen', TOKEN: '***' });
      expect(
        Object.keys(result).filter(
          (name) => !['PLAIN', 'TOKEN', 'PATH', 'HOME', 'HOSTNAME', 'PWD', 'SHLVL', 'TOOLCRIB_EXEC'].includes(name),
        ),
      ).toEqual([]);
      expect((await source.call('process')).result.cwd).toBe('/home/node');
      const place = form === attached ? container.name : ((await containersOf(source))[0] ?? '');
      await using stream = await alice.callStream('env:begin');
      await stream.nextOf('progress');
      const users = (await engine.docker('exec', place, 'ps', '-o', 'user,args')).split('\n').filter((line) => line.includes('server.js'));
      expect(users.length).toBeGreaterThan(0);
      for (const line of users) expect(line).toMatch(/^node\b/);
    }
    expect(JSON.stringify((await admin.get('/api/events?limit=1000')).json)).not.toContain('hush-hush-hush');
  });

  test('[SRC-3] is created with its limits, without network, privileges or a writable disk', async () => {
    await using source = await register({
      name: 'Limited',
      ...made(inImage.fixture('plain'), { limits: { memory_mb: 128, cpus: 0.5, pids: 64 } }),
    });
    const [id = ''] = await containersOf(source);
    const [{ HostConfig: config }] = JSON.parse(await engine.docker('inspect', id)) as [{ HostConfig: object }];
    expect(config).toMatchObject({
      Memory: 128 * 1024 * 1024,
      MemorySwap: 128 * 1024 * 1024,
      NanoCpus: 500_000_000,
      PidsLimit: 64,
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: [expect.stringContaining('no-new-privileges')],
      Init: true,
      Privileged: false,
      Binds: null,
    });
    expect(await source.call('echo', { text: 'small' })).toMatchObject({ text: 'small' });
  });

  test('[ERR-5] [MCP-4] reports its exit code and last output when its program crashes in a call', async () => {
    for (const mcp_lifecycle_mode of ['transient', 'singleton']) {
      const resilience = { restart: { maxAttempts: 5, backoffMs: 10 } };
      await using source = await register({ name: 'Crash', ...attached(inImage.fixture('plain')), mcp_lifecycle_mode, resilience });
      const { success, error } = await source.call('crash', { code: 9, words: 'out of cheese' });
      expect([success, error.code]).toEqual([false, 'SERVICE_UNAVAILABLE']);
      expect(error.message).toContain('out of cheese');
      expect(error.message).toContain('9');
      expect(await source.call('echo', { text: 'again' })).toMatchObject({ success: true, text: 'again' });
    }
  });

  test('[INV-1] [MCP-7] reports a tool that it adds', async () => {
    await using source = await register({ name: 'Grows', ...attached(inImage.fixture('plain')), mcp_lifecycle_mode: 'singleton' });
    await source.call('grow', { name: 'grown' });
    await until(async () => (await alice.listedNames()).includes('grows:grown'));
    expect(await source.call('echo', { text: 'taller' })).toMatchObject({ text: 'taller' });
  });

  test('[LIFE-1] [LIFE-4] loses its container when it stops, and gets one when it starts', async () => {
    await using source = await register({ name: 'Stops', ...made(inImage.fixture('plain')) });
    const before = await containersOf(source);
    expect(before).toHaveLength(1);
    expect((await admin.post('/api/sources/stops/stop', undefined)).json.status).toEqual({ state: 'stopped' });
    expect(await containersOf(source)).toEqual([]);
    expect((await admin.post('/api/sources/stops/start', undefined)).json.status).toMatchObject({ state: 'running' });
    expect(await source.call('echo', { text: 'again' })).toMatchObject({ text: 'again' });
    expect(await containersOf(source)).toHaveLength(1);
    expect(await containersOf(source)).not.toEqual(before);
  });

  test('[SRC-8] is shown with its tools in a preview, which leaves nothing behind', async () => {
    for (const form of Object.values(ways)) {
      const { status, json } = await admin.post('/api/sources/preview?discover=true', {
        name: 'Preview',
        ...form(inImage.fixture('plain')),
      });
      expect([status, JSON.stringify(json)]).toEqual([200, expect.stringContaining('echo')]);
    }
    expect(await engine.processesIn(container.name)).toEqual([]);
    const owner = readFileSync(join(server.dataDir, 'container-owner'), 'utf8').trim();
    expect(await engine.containersWithLabel(`dev.toolcrib.owner=${owner}`)).toEqual([]);
  });
});
