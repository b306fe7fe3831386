import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { DockerEngine, inImage, type TestContainer } from '../fixtures/docker-engine.ts';
import { grantEverything, startOpenServer } from '../fixtures/open-server.ts';
import { part } from '../parts.ts';
import { devToken, spawnServer, temporaryDirectory, until } from '../running-server.ts';

const docker = part('docker');
const image = docker.available ? docker.url : '';
const engine = new DockerEngine();
let container: TestContainer;
beforeAll(async () => {
  if (docker.available) container = await engine.runContainer(image);
});
afterAll(async () => {
  if (docker.available) await container[Symbol.asyncDispose]();
});

const attached = (name: string, ...mode: string[]) => ({
  name,
  mcp_container: { container: container.name, command: inImage.fixture(...mode) },
});
/** With room for those that take five seconds to be ended while others are called: a quick machine has many of them at once. */
const limits = { pids: 4096, memory_mb: 4096 };
const made = (name: string, ...mode: string[]) => ({ name, mcp_container: { image, command: inImage.fixture(...mode), limits } });
const packaged = (name: string, ...mode: string[]) => ({
  name,
  mcp: { package: { package_type: 'docker', identifier: image, args: inImage.fixture(...mode).slice(1) }, transport: { type: 'stdio' } },
});

async function register(admin: ApiClient, form: object) {
  const { json } = await admin.post('/api/sources?wait=120000', form);
  expect(json).toMatchObject({ status: { state: 'running' } });
  return json as { id: string; namespace: string };
}

const containersOf = ({ id }: { id: string }) => engine.containersWithLabel(`dev.toolcrib.source=${id}`);

/** How a call ends: answered, failed, out of time, left by its caller, or cancelled by them. */
const endings: ((alice: ApiClient, namespace: string) => Promise<void>)[] = [
  async (alice, namespace) => expect((await alice.call(`${namespace}:echo`, { text: 'on' })).json.text).toBe('on'),
  async (alice, namespace) => expect((await alice.call(`${namespace}:crash`, { code: 1, words: 'ouch' })).json.success).toBe(false),
  async (alice, namespace) => {
    const { json } = await alice.call(`${namespace}:hold`, { key: 'never' }, { timeout_ms: 1000 });
    expect(json).toMatchObject({ success: false, status: 'timed_out' });
  },
  async (alice, namespace) => {
    await using stream = await alice.callStream(`${namespace}:begin`);
    await stream.nextOf('progress');
    stream.leave();
  },
  async (alice, namespace) => {
    const { json } = await alice.call(`${namespace}:begin`, {}, { async: true });
    await until(async () => (await alice.get(`/api/bff/calls/${json.call_id}`)).json.status === 'running');
    await alice.delete(`/api/bff/calls/${json.call_id}`);
  },
];

describe.skipIf(!docker.available)('servers in containers', () => {
  test('[MCP-4] [MCP-5] [LIFE-5] leave nothing behind after five hundred calls, however they ended', { timeout: 900_000 }, async () => {
    await using server = await startOpenServer();
    const { admin, alice } = server;
    const stubborn = await register(admin, attached('Stubborn', 'stubborn'));
    const forking = await register(admin, attached('Forking', 'forks', '2', 'stubborn', 'setsid'));
    const plain = await register(admin, attached('Plain', 'plain'));
    const own = await register(admin, made('Own', 'stubborn'));
    const sessionKey = await servers();

    const calls = Array.from({ length: 500 }, (_, index) => {
      const { namespace } = index % 25 === 7 ? stubborn : index % 50 === 13 ? forking : index % 5 === 4 ? own : plain;
      // One in ten is left or cancelled half-way, and some crash or run out of time.
      const ending = index % 10 === 3 ? 3 + ((index / 10) & 1) : index % 25 === 11 ? 1 : index % 50 === 17 ? 2 : 0;
      return { namespace, ending: endings[Math.floor(ending)] };
    });
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        for (let call = calls.shift(); call !== undefined; call = calls.shift()) await call.ending?.(alice, call.namespace);
      }),
    );
    // The session for discovery stays; nothing of any call does.
    await until(async () => (await servers()).length === sessionKey.length, 60_000);
    expect(await servers()).toEqual(sessionKey);

    for (const { namespace } of [stubborn, forking]) await admin.post(`/api/sources/${namespace}/stop`, undefined);
    await admin.delete(`/api/sources/${own.namespace}`);
    expect(await containersOf(own)).toEqual([]);
    await admin.delete(`/api/sources/${plain.namespace}`);
    expect(await engine.processesIn(container.name)).toEqual([]);

    async function servers(): Promise<string[]> {
      const [made = ''] = await containersOf(own);
      const all = [...(await engine.serversIn(container.name)), ...(await engine.serversIn(made))];
      return all.map(({ pid, command }) => `${pid} ${command}`);
    }
  });

  test.each(['crash-handshake', 'hang-handshake', 'hang-list', 'deaf', 'close-stdout'])(
    '[LIFE-4] [LIFE-5] leave nothing behind after a failed start: %s',
    { timeout: 360_000 },
    async (mode) => {
      await using server = await startOpenServer();
      const resilience = { startupTimeoutMs: 5000, requestTimeoutMs: 5000 };
      // Side by side, as each waits for its time to be over.
      const forms = { attached, made, packaged };
      const failed = await Promise.all(
        Object.entries(forms).map(async ([name, form]) => {
          const { json } = await server.admin.post('/api/sources?wait=60000', { ...form(name, mode), resilience });
          expect(json).toMatchObject({ status: { state: 'error' } });
          return json as { id: string };
        }),
      );
      // Why it failed is told first, then it is cleared away.
      for (const source of failed) await until(async () => (await containersOf(source)).length === 0);
      await until(async () => (await engine.processesIn(container.name)).length === 0);
      for (const name of Object.keys(forms)) await server.admin.delete(`/api/sources/${name}`);
    },
  );

  test('[LIFE-5] leave nothing behind when the gateway stops with calls under way', { timeout: 360_000 }, async () => {
    await using gateway = await startGateway();
    const sources = await gateway.startEverything();
    gateway.server.child.kill('SIGTERM');
    await gateway.server.ended;
    expect(await engine.processesIn(container.name)).toEqual([]);
    for (const source of sources) expect(await containersOf(source)).toEqual([]);
  });

  test(
    '[LIFE-5] leave nothing in somebody else’s container when the gateway is killed; its own go at the next start',
    { timeout: 360_000 },
    async () => {
      await using gateway = await startGateway();
      const sources = await gateway.startEverything();
      const own = (await Promise.all(sources.map(containersOf))).flat();
      // One for each of the two that were made, and one for each process of the packages.
      expect(own.length).toBeGreaterThanOrEqual(4);
      gateway.server.child.kill('SIGKILL');
      await gateway.server.ended;
      // Nobody helps: what watches over them in there has lost its gateway.
      await until(async () => (await engine.processesIn(container.name)).length === 0, 30_000);

      await using next = await spawnServer(['--data', gateway.data]);
      const admin = next.client(await devToken(next.url, 'admin'));
      await until(async () => {
        const now = new Set((await Promise.all(sources.map(containersOf))).flat());
        return own.every((id) => !now.has(id));
      }, 60_000);
      await until(async () => (await statesOf(admin)).every((state) => state === 'running'), 60_000);
      for (const { namespace } of sources) await admin.delete(`/api/sources/${namespace}`);
      for (const source of sources) expect(await containersOf(source)).toEqual([]);
      expect(await engine.processesIn(container.name)).toEqual([]);
    },
  );
});

async function statesOf(admin: ApiClient): Promise<string[]> {
  const { sources } = (await admin.get('/api/sources')).json;
  return sources.map((source: { status: { state: string } }) => source.status.state);
}

/** A real `toolcrib serve` with servers of every kind, each in the middle of calls. */
async function startGateway() {
  const data = await temporaryDirectory();
  const server = await spawnServer(['--data', data.path]);
  const client = async (name: string) => server.client(await devToken(server.url, name));
  const [admin, alice] = await Promise.all([client('admin'), client('alice')]);
  await grantEverything(admin);

  async function startEverything() {
    const singleton = { mcp_lifecycle_mode: 'singleton' };
    const forms = [
      attached('Attached', 'stubborn'),
      { ...attached('Attached one', 'forks', '2', 'stubborn'), ...singleton },
      { ...attached('Attached ahead', 'plain'), standby: 2 },
      made('Made', 'stubborn'),
      { ...made('Made one', 'plain'), ...singleton },
      { ...packaged('Packaged', 'stubborn'), ...singleton },
      packaged('Packaged anew', 'plain'),
    ];
    const sources = await Promise.all(forms.map((form) => register(admin, form)));
    for (const { namespace } of sources) {
      const stream = await alice.callStream(`${namespace}:begin`);
      await stream.nextOf('progress');
    }
    return sources;
  }

  return {
    server,
    data: data.path,
    startEverything,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await data[Symbol.asyncDispose]();
    },
  };
}
