import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runRulesSchema } from '../../src/model/run-rules.ts';
import { freePort } from '../../src/net/free-port.ts';
import { registryAuth } from '../../src/net/docker/registry-auth.ts';
import { DockerEngine } from '../fixtures/docker-engine.ts';
import { startImageRegistry } from '../fixtures/image-registry.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { part } from '../parts.ts';
import { startTestServer, until } from '../running-server.ts';

const docker = part('docker');
const engine = new DockerEngine();

describe.skipIf(!docker.available)('[SRC-2] [SRC-3] an image', () => {
  let server: OpenServer;
  let registry: Awaited<ReturnType<typeof startImageRegistry>>;
  beforeAll(async () => {
    registry = await startImageRegistry(engine, docker.available ? docker.url : '');
    server = await startOpenServer();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
  });

  const packaged = (image: string, settings?: object, args: string[] = []) => ({
    mcp: { package: { package_type: 'docker', identifier: image, args }, transport: { type: 'stdio' } },
    ...(settings === undefined ? {} : { mcp_container: settings }),
  });
  const inContainer = (image: string, settings: object = {}, args: string[] = []) => ({
    mcp_container: { image, command: ['/bin/sh', '/server.sh', ...args], ...settings },
  });
  async function register(name: string, form: object) {
    const { json } = await server.admin.post('/api/sources?wait=60000', { name, mcp_lifecycle_mode: 'singleton', ...form });
    return json as { id: string; status: { state: string; code?: string; message?: string } };
  }
  const of = (image: string) => (url: string) => url.includes(image.slice(registry.host.length, image.lastIndexOf(':')));
  const statusOf = async (name: string) => (await server.admin.get(`/api/sources/${name}`)).json.status;

  test.each([
    ['of a package', 'packed', (image: string) => packaged(image)],
    ['of a container', 'contained', (image: string) => inContainer(image)],
  ])('%s that is missing is pulled, the status shows the progress, and the server can be called', async (_what, name, form) => {
    const image = registry.newImage();
    const release = registry.hold();
    // The whole start may take no longer than this, but the pull has its own time.
    const body = { name, resilience: { startupTimeoutMs: 10_000 }, ...form(image) };
    await server.admin.post('/api/sources', body);
    const pattern = new RegExp(`^pulling image ${image}, \\d+\\.\\d of \\d+\\.\\d MB$`);
    await until(async () => pattern.test((await statusOf(name)).message ?? ''));
    release();
    await until(async () => (await statusOf(name)).state === 'running');
    expect((await server.alice.call(`${name}:hello`)).json).toMatchObject({ success: true, text: 'hello' });
    const { json } = await server.admin.get(`/api/sources/${name}/logs`);
    expect(JSON.stringify(json)).toContain(`The image ${image} is here`);
    await server.admin.delete(`/api/sources/${name}`);
  });

  test('is pulled once for several sources that want it', async () => {
    const image = registry.newImage();
    const release = registry.hold();
    const names = ['first', 'second'];
    for (const name of names) await server.admin.post('/api/sources', { name, ...inContainer(image) });
    await until(async () => (await Promise.all(names.map(statusOf))).every(({ message = '' }) => message.startsWith('pulling image')));
    release();
    await until(async () => (await Promise.all(names.map(statusOf))).every(({ state }) => state === 'running'));
    expect(registry.pulled.filter(of(image))).toHaveLength(1);
    for (const name of names) await server.admin.delete(`/api/sources/${name}`);
  });

  test.each([
    ['a package', (image: string, pull: string) => packaged(image, { pull })],
    ['a container', (image: string, pull: string) => inContainer(image, { pull })],
  ])('for %s is never pulled with `never`, and checked at every start with `always`', async (what, form) => {
    const image = registry.newImage();
    const name = what.replace(' ', '-');
    const refused = await register(name, form(image, 'never'));
    expect(refused.status).toMatchObject({ state: 'error', code: 'NOT_FOUND' });
    expect(refused.status.message).toMatch(/is not here, and `pull: never` forbids fetching it.*docker pull/);
    expect(registry.pulled.filter(of(image))).toHaveLength(0);
    await server.admin.put(`/api/sources/${name}`, { name, mcp_lifecycle_mode: 'singleton', ...form(image, 'always') });
    await until(async () => (await statusOf(name)).state === 'running');
    expect((await server.admin.post(`/api/sources/${name}/restart`, undefined)).json.status).toMatchObject({ state: 'running' });
    expect(registry.pulled.filter(of(image))).toHaveLength(2);
    expect((await server.alice.call(`${name}:hello`)).json).toMatchObject({ success: true });
    await server.admin.delete(`/api/sources/${name}`);
  });

  test('that cannot be pulled says why in plain words', async () => {
    const missing = await register('Missing', inContainer(registry.newImage('none-such')));
    expect(missing.status).toMatchObject({ state: 'error', code: 'NOT_FOUND' });
    expect(missing.status.message).toMatch(/^Package not found: 127\.0\.0\.1:\d+ has no image .*Check its name and tag/);
    const away = await register('Away', packaged(`127.0.0.1:${await freePort('127.0.0.1')}/x:1`));
    expect(away.status).toMatchObject({ state: 'error', code: 'SERVICE_UNAVAILABLE' });
    expect(away.status.message).toMatch(/is not here, and Docker cannot reach 127\.0\.0\.1:\d+/);
    registry.protect('ann:secret');
    const locked = await register('Locked', inContainer(registry.newImage()));
    registry.protect(undefined);
    expect(locked.status).toMatchObject({ state: 'error', code: 'NOT_FOUND' });
    expect(locked.status.message).toMatch(/requires a login: check the name, or run `docker login 127\.0\.0\.1:\d+`/);
    for (const name of ['missing', 'away', 'locked']) await server.admin.delete(`/api/sources/${name}`);
  });

  test('is pulled with the registry login of this account', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'toolcrib-login-'));
    const before = process.env['DOCKER_CONFIG'];
    try {
      const auth = Buffer.from('ann:secret').toString('base64');
      await writeFile(join(folder, 'config.json'), JSON.stringify({ auths: { [registry.host]: { auth } } }));
      process.env['DOCKER_CONFIG'] = folder;
      registry.protect('ann:secret');
      const { status } = await register('Private', inContainer(registry.newImage()));
      expect(status).toMatchObject({ state: 'running' });
      await server.admin.delete('/api/sources/private');
      const decoded = JSON.parse(Buffer.from((await registryAuth(`${registry.host}/x`, process.env)) ?? '', 'base64url').toString());
      expect(decoded).toEqual({ serveraddress: registry.host, username: 'ann', password: 'secret' });
      expect(await registryAuth('ubuntu', process.env)).toBeUndefined();
    } finally {
      registry.protect(undefined);
      if (before === undefined) delete process.env['DOCKER_CONFIG'];
      else process.env['DOCKER_CONFIG'] = before;
      await rm(folder, { recursive: true });
    }
  });

  test('[SEC-2] that the rules forbid is not even pulled', async () => {
    const runRules = runRulesSchema.parse({ runtimes: ['docker'], images: ['ghcr.io/*'] });
    await using own = await startTestServer({ runRules });
    const admin = await own.as('admin');
    const before = registry.pulled.length;
    expect(await admin.post('/api/sources', { name: 'A', ...packaged(registry.newImage()) })).toMatchObject({ status: 403 });
    expect(await admin.post('/api/sources', { name: 'B', ...inContainer(registry.newImage()) })).toMatchObject({ status: 403 });
    expect(registry.pulled.length).toBe(before);
  });

  test('[LIFE-1] [SRC-8] whose server fails because it has no network says so, in its status and in a preview', async () => {
    const image = registry.newImage();
    const advice = /Its container has no network.*"network": "bridge".*getaddrinfo EAI_AGAIN/s;
    for (const [name, form] of [
      ['Packed away', packaged(image, undefined, ['fail'])],
      ['Shut in', inContainer(image, {}, ['fail'])],
    ] as const) {
      const { id, status } = await register(name, form);
      expect(status.message).toMatch(advice);
      const { json } = await server.admin.post('/api/sources/preview?discover=true', { name: `${name} again`, ...form });
      expect(json.error.message).toMatch(advice);
      await server.admin.delete(`/api/sources/${id}`);
    }
  });
});
