import { chmod } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { DockerEngine, inImage } from '../fixtures/docker-engine.ts';
import { grantEverything, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { PrivateDaemon } from '../fixtures/private-daemon.ts';
import { part } from '../parts.ts';
import { devToken, spawnServer, temporaryDirectory, until } from '../running-server.ts';

const docker = part('docker');
const dockerd = part('dockerd');
const image = docker.available ? docker.url : '';
const command = inImage.fixture('plain');
const mayStartDaemons = docker.available && dockerd.available && process.getuid?.() === 0;
const quickly = { restart: { maxAttempts: 10, backoffMs: 50 } };

async function register(admin: ApiClient, form: object) {
  const { json } = await admin.post('/api/sources?wait=60000', { resilience: quickly, ...form });
  return json;
}

const untilEchoed = (alice: ApiClient, namespace: string, giveUpAfterMs = 60_000) =>
  until(async () => (await alice.call(`${namespace}:echo`, { text: 'here' })).json?.text === 'here', giveUpAfterMs);

describe.skipIf(!mayStartDaemons)('a Docker daemon that comes and goes', () => {
  let daemon: PrivateDaemon;
  let server: OpenServer;
  let admin: ApiClient;
  let alice: ApiClient;
  const namespaces = ['made', 'made-one', 'made-ahead', 'attached', 'attached-one'];

  beforeAll(async () => {
    if (!mayStartDaemons) return;
    daemon = await PrivateDaemon.start(image);
    server = await startOpenServer({ dockerHost: daemon.host });
    ({ admin, alice } = server);
    const { name: container } = await daemon.runContainer(image, '--restart', 'always');
    const singleton = { mcp_lifecycle_mode: 'singleton' };
    const made = { mcp_container: { image, command } };
    const attached = { mcp_container: { container, command } };
    for (const form of [
      { name: 'Made', ...made },
      { name: 'Made one', ...made, ...singleton },
      { name: 'Made ahead', ...made, standby: 2 },
      { name: 'Attached', ...attached },
      { name: 'Attached one', ...attached, ...singleton },
    ]) {
      const { status } = await register(admin, form);
      if (status?.state !== 'running') throw new Error(`${form.name} does not run: ${JSON.stringify(status)}`);
    }
  });
  afterAll(async () => {
    if (!mayStartDaemons) return;
    await server[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
  });

  /** Calls everything without end; gives the codes of the answers that were no echo. */
  function load() {
    const codes = new Set<string>();
    const over = new AbortController();
    const callers = namespaces.map(async (namespace) => {
      while (!over.signal.aborted) {
        const { json } = await alice.call(`${namespace}:echo`, { text: 'on' });
        if (json.text !== 'on') codes.add(json.error?.code ?? json.code);
      }
    });
    return {
      async end(): Promise<string[]> {
        over.abort();
        await Promise.all(callers);
        return [...codes];
      },
    };
  }

  test(
    '[ERR-2] [LIFE-2] fails calls as unavailable when it is restarted under load, and they work again by themselves',
    { timeout: 360_000 },
    async () => {
      const calls = load();
      await daemon.restart();
      for (const namespace of namespaces) await untilEchoed(alice, namespace);
      expect((await calls.end()).filter((code) => code !== 'SERVICE_UNAVAILABLE')).toEqual([]);
      expect((await daemon.containersWithLabel('dev.toolcrib.source')).length).toBe(3);
    },
  );

  test('[ERR-2] has the same effect when it is killed under load', { timeout: 360_000 }, async () => {
    const calls = load();
    await daemon.kill();
    await until(async () => (await alice.call('made:echo', { text: 'on' })).json.error?.message.includes('Docker'));
    await daemon.start();
    for (const namespace of namespaces) await untilEchoed(alice, namespace);
    expect((await calls.end()).filter((code) => code !== 'SERVICE_UNAVAILABLE')).toEqual([]);
  });

  test(
    '[ERR-2] is reported as not running by every call and start, and sources that were started meanwhile come up later',
    { timeout: 360_000 },
    async () => {
      await daemon.stop();
      for (const namespace of namespaces) {
        await until(async () => {
          const { json } = await alice.call(`${namespace}:echo`, { text: 'on' });
          return (json.error?.message ?? json.message).includes('Docker not running');
        });
      }
      const late = await register(admin, { name: 'Late', mcp_container: { image, command } });
      expect(late).toMatchObject({ status: { state: 'error', code: 'SERVICE_UNAVAILABLE' } });
      expect(late.status.message).toContain('Docker not running');
      expect(late.status.message).toContain(daemon.host);
      await daemon.start();
      for (const namespace of [...namespaces, 'late']) await untilEchoed(alice, namespace);
      await admin.delete('/api/sources/late');
    },
  );

  test('[ERR-2] is reported as forbidden, and not as stopped, to an account that may not use it', { timeout: 360_000 }, async () => {
    await using data = await temporaryDirectory();
    await chmod(daemon.socket, 0);
    // Root may open everything, but for a root without these.
    const asAnybody = ['setpriv', '--bounding-set=-dac_override,-dac_read_search'];
    await using gateway = await spawnServer(['--data', data.path], { DOCKER_HOST: daemon.host ?? '' }, asAnybody);
    const own = gateway.client(await devToken(gateway.url, 'admin'));
    await grantEverything(own);
    const { status } = await register(own, { name: 'Barred', mcp_container: { image, command } });
    expect(status).toMatchObject({ state: 'error', code: 'SERVICE_UNAVAILABLE' });
    expect(status.message).toMatch(/may not use Docker/);
    expect(status.message).toContain(daemon.socket);
    expect(status.message).toContain('group docker');
    // Once it may, nobody has to start anything.
    await chmod(daemon.socket, 0o660);
    await untilEchoed(own, 'barred');
    await own.delete('/api/sources/barred');
  });
});

describe.skipIf(!docker.available)('a container that comes and goes', () => {
  const engine = new DockerEngine();
  let server: OpenServer;
  let admin: ApiClient;
  let alice: ApiClient;
  beforeAll(async () => {
    if (!docker.available) return;
    server = await startOpenServer();
    ({ admin, alice } = server);
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  test('[ERR-1] is named when it, or its image, does not exist', async () => {
    const noImage = await register(admin, { name: 'No image', mcp_container: { image: 'toolcrib-test:no-such', pull: 'never', command } });
    expect(noImage.status).toMatchObject({ state: 'error', code: 'NOT_FOUND', message: expect.stringContaining('toolcrib-test:no-such') });
    const none = await register(admin, { name: 'No container', mcp_container: { container: 'toolcrib-no-such', command } });
    expect(none.status).toMatchObject({ state: 'error', code: 'NOT_FOUND', message: expect.stringContaining('toolcrib-no-such') });
    const identifier = 'toolcrib-test:no-such';
    const noPackage = await register(admin, {
      name: 'No package',
      mcp: { package: { package_type: 'docker', identifier }, transport: { type: 'stdio' } },
      mcp_container: { pull: 'never' },
    });
    expect(noPackage.status).toMatchObject({ state: 'error', code: 'NOT_FOUND', message: expect.stringContaining('Package not found') });
  });

  test('is named when it lacks the program, user or directory', async () => {
    await using container = await engine.runContainer(image);
    const inside = (more: object) => register(admin, { name: 'Inside', mcp_container: { container: container.name, command, ...more } });
    for (const [more, words] of [
      [{ command: ['/no/such-program'] }, /such-program/],
      [{ user: 'nobody-here' }, /user/],
      [{ workdir: '/no/such/place' }, /directory/],
    ] as const) {
      const { status } = await inside(more);
      expect(status).toMatchObject({ state: 'error', message: expect.stringMatching(words) });
      expect(['NOT_FOUND', 'SERVICE_UNAVAILABLE']).toContain(status.code);
      await admin.delete('/api/sources/inside');
    }
    expect(await engine.processesIn(container.name)).toEqual([]);
  });

  test('without a shell must be registered as a package, and one that rules the machine is refused', async () => {
    // An archive of nothing.
    await using empty = await engine.importImage(Buffer.alloc(1024));
    const bare = await register(admin, { name: 'Bare', mcp_container: { image: empty.name, command } });
    expect(bare.status).toMatchObject({ state: 'error', code: 'NOT_FOUND', message: expect.stringContaining('/bin/sh') });
    expect(bare.status.message).toContain('package_type docker');
    expect(await engine.containersWithLabel(`dev.toolcrib.source=${bare.id}`)).toEqual([]);

    const places = [['--privileged'], ['--pid', 'host'], ['--cap-add', 'SYS_ADMIN'], ['--volume', '/var/run/docker.sock:/docker.sock']];
    for (const options of places) {
      // It need not run: not every machine may start these at all.
      const container = await engine.docker('create', ...options, image);
      const { status, json } = await admin.post('/api/sources?wait=60000', { name: 'Ruler', mcp_container: { container, command } });
      await engine.docker('rm', container);
      expect([status, json.code, json.field]).toEqual([400, 'VALIDATION_ERROR', 'mcp_container.container']);
    }
  });

  test.each(['transient', 'singleton'])(
    '[ERR-5] [LIFE-2] fails a running call when it is stopped, and serves again when it is started: %s',
    async (mode) => {
      await using container = await engine.runContainer(image);
      const name = `Stopped ${mode}`;
      await register(admin, { name, mcp_container: { container: container.name, command }, mcp_lifecycle_mode: mode });
      await using stream = await alice.callStream(`stopped-${mode}:begin`);
      await stream.nextOf('progress');
      await engine.docker('kill', container.name);
      expect((await stream.nextOf('result')).data).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } });
      await until(async () => {
        const { json } = await alice.call(`stopped-${mode}:echo`, { text: 'on' });
        return (json.error?.message ?? json.message).includes(`The container ${container.name} is not running`);
      });
      await engine.docker('start', container.name);
      await until(async () => (await alice.call(`stopped-${mode}:echo`, { text: 'on' })).json.text === 'on');
      await admin.delete(`/api/sources/stopped-${mode}`);
    },
  );

  test('is reported as paused, and works when it continues', async () => {
    await using container = await engine.runContainer(image);
    await register(admin, { name: 'Paused', mcp_container: { container: container.name, command } });
    await engine.docker('pause', container.name);
    const { json } = await alice.call('paused:echo', { text: 'on' });
    expect(json.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('is paused') });
    await engine.docker('unpause', container.name);
    await untilEchoed(alice, 'paused');
    await admin.delete('/api/sources/paused');
    expect(await engine.processesIn(container.name)).toEqual([]);
  });

  test('[MCP-10] is noticed when it is paused under a running server, which serves again afterwards', async () => {
    await using container = await engine.runContainer(image);
    const resilience = { heartbeatIntervalMs: 100, staleTimeoutMs: 1000 };
    const form = { name: 'Frozen', mcp_container: { container: container.name, command }, mcp_lifecycle_mode: 'singleton', resilience };
    await register(admin, form);
    await engine.docker('pause', container.name);
    await until(async () => {
      const { json } = await alice.call('frozen:echo', { text: 'on' }, { timeout_ms: 3000 });
      return (json.error?.message ?? json.message).includes('is paused');
    });
    await engine.docker('unpause', container.name);
    await untilEchoed(alice, 'frozen');
    await admin.delete('/api/sources/frozen');
    await expect.poll(() => engine.processesIn(container.name)).toEqual([]);
  });

  test.each(['transient', 'singleton'])(
    '[LIFE-2] is created again when it was made for the source and somebody removes it: %s',
    async (mode) => {
      const { id } = await register(admin, { name: `Removed ${mode}`, mcp_container: { image, command }, mcp_lifecycle_mode: mode });
      const [made = ''] = await engine.containersWithLabel(`dev.toolcrib.source=${id}`);
      await using stream = await alice.callStream(`removed-${mode}:begin`);
      await stream.nextOf('progress');
      await engine.docker('rm', '--force', made);
      expect((await stream.nextOf('result')).data).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } });
      await untilEchoed(alice, `removed-${mode}`);
      const again = await engine.containersWithLabel(`dev.toolcrib.source=${id}`);
      expect(again).toHaveLength(1);
      expect(again).not.toContain(made);
      await admin.delete(`/api/sources/removed-${mode}`);
      expect(await engine.containersWithLabel(`dev.toolcrib.source=${id}`)).toEqual([]);
    },
  );

  test('[LIFE-5] is told apart when its server uses up its memory, and the next call works', async () => {
    const limits = { memory_mb: 96 };
    const { status } = await register(admin, { name: 'Hungry', mcp_container: { image, command, limits } });
    expect(status).toMatchObject({ state: 'running' });
    const { json } = await alice.call('hungry:huge', { bytes: 400_000_000 });
    expect(json).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringMatching(/memory/) } });
    await untilEchoed(alice, 'hungry');
    await admin.delete('/api/sources/hungry');
  });
});
