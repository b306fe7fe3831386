import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { DockerEngine, inImage } from '../fixtures/docker-engine.ts';
import { fixture, grantEverything } from '../fixtures/open-server.ts';
import { part } from '../parts.ts';
import {
  devToken,
  spawnServer,
  startTestServer,
  temporaryDirectory,
  until,
  type ServerProcess,
  type TestServer,
} from '../running-server.ts';

const docker = part('docker');
const image = docker.available ? docker.url : '';
const engine = new DockerEngine();
const containersOf = (sourceId: string) => engine.containersWithLabel(`dev.toolcrib.source=${sourceId}`);
const packaged = (args: string[], settings?: object) => ({
  mcp: { package: { package_type: 'docker', identifier: image, args }, transport: { type: 'stdio' } },
  ...(settings === undefined ? {} : { mcp_container: settings }),
});
/** What stands behind the image, whose entry point is Node. */
const served = (...mode: string[]) => inImage.fixture(...mode).slice(1);
/** The pids of the docker commands that a gateway has running. */
const commandsOf = (dataDir: string) => readdirSync(join(dataDir, 'processes')).map((file) => Number.parseInt(file, 10));

describe.skipIf(!docker.available)('a docker package', () => {
  let server: TestServer;
  let admin: ApiClient;
  beforeAll(async () => {
    server = await startTestServer();
    admin = await server.as('admin');
    await grantEverything(admin);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function register(name: string, form: object) {
    const { json } = await admin.post('/api/sources?wait=60000', { name, mcp_lifecycle_mode: 'singleton', ...form });
    return json as { id: string; namespace: string; status: { state: string; code?: string; message?: string } };
  }

  test('[SRC-2] [SEC-2] runs in its own container, within its limits, and sees only what its registration names', async () => {
    const { id, status } = await register('Packed', {
      mcp: {
        ...packaged(served('plain')).mcp,
        env_vars: { PACKED_TOKEN: { value: 'a-secret-of-its-own', is_secret: true }, LEVEL: { value: 'info', is_secret: false } },
      },
      mcp_container: { limits: { memory_mb: 128, cpus: 0.5, pids: 64 }, user: '1000:1000', workdir: '/app' },
    });
    expect(status).toMatchObject({ state: 'running' });
    const [container = '', ...others] = await containersOf(id);
    expect(others).toEqual([]);
    const [inspected] = JSON.parse(await engine.docker('inspect', container)) as [{ HostConfig: object; Config: object }];
    expect(inspected.HostConfig).toMatchObject({
      Memory: 128 * 1024 * 1024,
      MemorySwap: 128 * 1024 * 1024,
      NanoCpus: 500_000_000,
      PidsLimit: 64,
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      Init: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
    });
    expect(inspected.Config).toMatchObject({ User: '1000:1000', WorkingDir: '/app' });
    const seen = JSON.parse((await admin.call('packed:environment', {})).json.text) as Record<string, string>;
    expect(seen).toMatchObject({ LEVEL: 'info', PACKED_TOKEN: '***' });
    expect(Object.keys(seen).filter((name) => /^(?:DOCKER_|XDG_)/.test(name))).toEqual([]);
    expect((await admin.post('/api/sources/packed/stop', undefined)).json.status).toEqual({ state: 'stopped' });
    expect(await containersOf(id)).toEqual([]);
  });

  test('[MCP-6] has a fresh container for every call in transient mode, and none afterwards', async () => {
    const { id } = await register('Fleeting', { ...packaged(served('plain')), mcp_lifecycle_mode: 'transient' });
    const answers = await Promise.all(['a', 'b'].map((text) => admin.call('fleeting:echo', { text })));
    expect(answers.map(({ json }) => json.text)).toEqual(['a', 'b']);
    await until(async () => (await containersOf(id)).length === 0);
  });

  test('[LIFE-4] that ignores SIGTERM is gone when its stop is answered', async () => {
    const { id } = await register('Stubborn', packaged(served('stubborn')));
    expect(await containersOf(id)).toHaveLength(1);
    await admin.post('/api/sources/stubborn/stop', undefined);
    expect(await containersOf(id)).toEqual([]);
  });

  test('[LIFE-5] loses its container when the docker command is killed, and gets another', async () => {
    const before = new Set(commandsOf(server.dataDir));
    const { id } = await register('Orphaned', packaged(served('stubborn')));
    const [first = ''] = await containersOf(id);
    const command = commandsOf(server.dataDir).find((pid) => !before.has(pid)) ?? 0;
    process.kill(command, 'SIGKILL');
    await until(async () => {
      const now = await containersOf(id);
      return now.length === 1 && now[0] !== first;
    });
    await admin.post('/api/sources/orphaned/stop', undefined);
    expect(await containersOf(id)).toEqual([]);
  });

  test('[ERR-5] that crashes in a call leaves no container, and says how it ended', async () => {
    const { id } = await register('Crashing', packaged(served('plain')));
    const { json } = await admin.call('crashing:crash', { code: 7, words: 'last words' });
    expect(json).toMatchObject({ error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('ended with code 7') } });
    await admin.post('/api/sources/crashing/stop', undefined);
    expect(await containersOf(id)).toEqual([]);
  });

  test('[LIFE-3] leaves no container after a failed handshake', async () => {
    const resilience = { startupTimeoutMs: 1500, restart: { maxAttempts: 0 } };
    const { id, status } = await register('Silent', { ...packaged(served('hang-handshake')), resilience });
    expect(status).toMatchObject({ state: 'error', code: 'NETWORK_ERROR' });
    expect(await containersOf(id)).toEqual([]);
  });

  const hog = ['-e', 'const kept = []; for (;;) kept.push(Buffer.alloc(1_000_000, 1))'];
  const failing: [string, () => object, object][] = [
    [
      '[ERR-1] an image that nobody has',
      () => ({
        mcp: { package: { package_type: 'docker', identifier: 'toolcrib-test-no-such-image' }, transport: { type: 'stdio' } },
        mcp_container: { pull: 'never' },
      }),
      { code: 'NOT_FOUND', message: expect.stringMatching(/^Package not found: the image toolcrib-test-no-such-image is not here/) },
    ],
    [
      '[ERR-1] a program that the image does not have',
      () => ({ mcp_command: ['docker', 'run', '--network', 'none', '--entrypoint', 'toolcrib-no-such-program', image] }),
      { code: 'NOT_FOUND', message: expect.stringContaining('The image has no program toolcrib-no-such-program') },
    ],
    [
      '[ERR-5] one that needs more memory than it may have',
      () => packaged(hog, { limits: { memory_mb: 32 } }),
      { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('more memory than its limit allows') },
    ],
  ];
  test.each(failing)('%s has an error of its own', async (what, form, expected) => {
    const name = what.replaceAll(/[^a-z]+/g, '-');
    const { id, status } = await register(name, { ...form(), resilience: { restart: { maxAttempts: 0 } } });
    expect(status).toMatchObject({ state: 'error', ...expected });
    expect(await containersOf(id)).toEqual([]);
  });

  test('[SRC-8] is started once for a preview, and nothing is left', async () => {
    const label = `tried=${randomBytes(6).toString('hex')}`;
    const mcp_command = ['docker', 'run', '--network', 'none', '--label', label, image, ...served('plain')];
    const { json } = await admin.post('/api/sources/preview?discover=true', { name: 'Tried', mcp_command });
    expect(json).toMatchObject({ error: null, starts: { runtime: 'docker', runs: [image] } });
    expect(json.tools.length).toBeGreaterThan(5);
    expect(await engine.containersWithLabel(label)).toEqual([]);
  });
});

interface Gateway {
  server: ServerProcess;
  admin: ApiClient;
}

describe.skipIf(!docker.available)('a gateway that is killed', () => {
  async function serving<Result>(
    dataDir: string,
    env: Record<string, string>,
    use: (gateway: Gateway) => Promise<Result>,
  ): Promise<Result> {
    await using server = await spawnServer(['--data', dataDir], env);
    return await use({ server, admin: server.client(await devToken(server.url, 'admin')) });
  }

  test('[LIFE-5] leaves a container that the next start removes as soon as Docker runs', async () => {
    await using data = await temporaryDirectory();
    const records = () => readdirSync(join(data.path, 'processes'));
    const form = { name: 'Left', mcp_lifecycle_mode: 'singleton', ...packaged(served('stubborn')) };
    const id = await serving(data.path, {}, async ({ admin }) => (await admin.post('/api/sources?wait=60000', form)).json.id as string);
    const [left = ''] = await containersOf(id);
    const record = records();
    expect(record).toHaveLength(1);
    await serving(data.path, { DOCKER_HOST: `unix://${join(data.path, 'nobody.sock')}` }, async () => {
      expect(records()).toEqual(expect.arrayContaining(record));
    });
    expect(await containersOf(id)).toEqual([left]);
    await serving(data.path, {}, async ({ server, admin }) => {
      expect(await containersOf(id)).not.toContain(left);
      await admin.post(`/api/sources/${id}/stop`, undefined);
      server.child.kill('SIGTERM');
      await server.ended;
    });
    expect(await containersOf(id)).toEqual([]);
    expect(records()).toEqual([]);
  });
});

test('[ERR-2] a package reports that Docker is missing, and no other server learns where Docker is', async () => {
  await using server = await startTestServer({ dockerHost: 'unix:///toolcrib-nowhere/docker.sock' });
  const admin = await server.as('admin');
  await grantEverything(admin);
  const resilience = { restart: { maxAttempts: 0 } };
  const { json } = await admin.post('/api/sources?wait=60000', {
    name: 'Away',
    resilience,
    mcp: { package: { package_type: 'docker', identifier: 'x' }, transport: { type: 'stdio' } },
  });
  expect(json.status).toMatchObject({ state: 'error', code: 'SERVICE_UNAVAILABLE', message: expect.stringMatching(/^Docker not running/) });
  await admin.post('/api/sources?wait=60000', { name: 'Here', mcp_command: fixture('plain') });
  const seen = await admin.call('here:environment');
  expect(seen.text).not.toContain('toolcrib-nowhere');
});
