import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { containerSchema, type Container } from '../../src/model/container.ts';
import { mcpDefinitionSchema } from '../../src/sources/mcp/mcp-definition.ts';
import { EngineUnavailableError } from '../../src/model/named-errors.ts';
import type { SourceRecord } from '../../src/model/source.ts';
import { createDockerEngine } from '../../src/net/docker/engine.ts';
import { sourceLabel } from '../../src/sources/mcp/process/container-labels.ts';
import { createContainerOwner } from '../../src/sources/mcp/container/container-owner.ts';
import { createImages } from '../../src/sources/mcp/container/images.ts';
import { createContainers } from '../../src/sources/mcp/container/containers.ts';
import { DockerEngine } from '../fixtures/docker-engine.ts';
import { part } from '../parts.ts';
import { until } from '../running-server.ts';

const docker = part('docker');
const image = docker.available ? docker.url : '';

describe.skipIf(!docker.available)('the container of a source', () => {
  const daemon = new DockerEngine();
  const engine = createDockerEngine(process.env['DOCKER_HOST'], process.env);
  const directory = mkdtempSync(join(tmpdir(), 'toolcrib-containers-'));
  const allowed = join(directory, 'allowed');
  mkdirSync(allowed);
  const images = createImages({ engine, authOf: async () => undefined });
  const open = (dataDir = directory) =>
    createContainers({ engine, images, owner: createContainerOwner({ dataDir }), allowedMounts: [allowed] });
  const containers = open();
  let used: string[] = [];

  afterEach(async () => {
    await Promise.all(used.map((id) => containers.release(id)));
    used = [];
  });
  afterAll(() => {
    engine.close();
    rmSync(directory, { recursive: true, force: true });
  });

  function newSource(): SourceRecord {
    const id = randomUUID();
    used.push(id);
    const definition = mcpDefinitionSchema.parse({ command: ['cat'] });
    return {
      id,
      name: id,
      namespace: 'tested',
      source_type: 'mcp',
      enabled: true,
      definition,
      managed_by: null,
      created_at: 1,
      updated_at: 1,
    };
  }

  const settingsOf = (settings: object): Container => containerSchema.parse({ image, settings });
  const inspect = async (id: string) => JSON.parse(await daemon.docker('inspect', id)) as [Inspected];
  const made = (source: SourceRecord) => daemon.containersWithLabel(`${sourceLabel}=${source.id}`);

  test('[SRC-3] has our labels, our limits, and nothing of this machine', async () => {
    const source = newSource();
    const container = containerSchema.parse({
      image,
      user: 'node',
      settings: {
        limits: { memory_mb: 100, cpus: 0.5, pids: 40 },
        tmpfs: ['/tmp', '/var/cache'],
        mounts: [{ source: allowed, target: '/data' }],
      },
    });
    const { id } = await containers.get(source, container);
    const [found] = await inspect(id);
    expect(found.Config.Labels).toMatchObject({ 'dev.toolcrib.source': source.id });
    expect(found.Config.User).toBe('node');
    expect(found.HostConfig).toMatchObject({
      Memory: 104_857_600,
      MemorySwap: 104_857_600,
      NanoCpus: 500_000_000,
      PidsLimit: 40,
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      SecurityOpt: ['no-new-privileges'],
      CapDrop: ['ALL'],
      Init: true,
      AutoRemove: true,
      Privileged: false,
      Mounts: [{ Type: 'bind', Source: allowed, Target: '/data', ReadOnly: true }],
    });
    const inside = (script: string) => daemon.docker('exec', id, 'sh', '-c', `${script} 2>&1 || true`);
    expect(await inside('touch /app/x')).toMatch(/Read-only file system/);
    expect(await inside('touch /data/x')).toMatch(/Read-only file system/);
    expect(await inside('touch /tmp/x /var/cache/x && echo written')).toBe('written');
    expect(await inside('ls /sys/class/net')).toBe('lo');
  });

  test('[SRC-3] is made once, however many ask, and is gone when the source releases it', async () => {
    const source = newSource();
    const all = await Promise.all(Array.from({ length: 5 }, () => containers.get(source, settingsOf({}))));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(await made(source)).toHaveLength(1);
    await containers.release(source.id);
    expect(await made(source)).toEqual([]);
    await containers.release(source.id);
  });

  test.each(['stop', 'kill', 'rm --force'])('[SRC-3] is made again after somebody else ended it (docker %s)', async (command) => {
    const source = newSource();
    const before = await containers.get(source, settingsOf({}));
    await daemon.docker(...command.split(' '), ...(command === 'stop' ? ['--time', '1'] : []), before.id);
    await before.guard.lost;
    const after = await containers.get(source, settingsOf({}));
    expect(after.id).not.toBe(before.id);
    await until(async () => (await made(source)).length === 1);
  });

  test('[SRC-3] is replaced when it has lost its guard', async () => {
    const source = newSource();
    const before = await containers.get(source, settingsOf({}));
    const guard = (await daemon.processesIn(before.id)).find(({ command }) => command.includes('trap'));
    await daemon.docker('exec', before.id, 'kill', '-KILL', String(guard?.pid));
    await before.guard.lost;
    const after = await containers.get(source, settingsOf({}));
    await until(async () => (await made(source)).length === 1);
    expect(await made(source)).toEqual([after.id]);
  });

  test('[SRC-3] that an earlier run has left is found by its label and removed, and nothing else is', async () => {
    const [mine, other] = [mkdtempSync(join(directory, 'a-')), mkdtempSync(join(directory, 'b-'))];
    const [source, elsewhere] = [newSource(), newSource()];
    await open(mine).get(source, settingsOf({}));
    const others = open(other);
    await others.get(elsewhere, settingsOf({}));
    expect(await open(mine).reapLeftovers()).toBe(1);
    expect(await made(source)).toEqual([]);
    expect(await made(elsewhere)).toHaveLength(1);
    expect(await others.reapLeftovers()).toBe(0);
    expect(await made(elsewhere)).toHaveLength(1);
    await others.release(elsewhere.id);
    expect(await open(mkdtempSync(join(directory, 'c-'))).reapLeftovers()).toBe(0);
  });

  test('[ERR-1] whose image is missing is reported with what to do', async () => {
    const source = newSource();
    const refused = containers.get(source, containerSchema.parse({ image: 'toolcrib-test/none-such:1', settings: { pull: 'never' } }));
    await expect(refused).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringMatching(/none-such:1 is not here.*docker pull/) as string,
    });
  });

  test('[ERR-1] whose network is missing is reported by name', async () => {
    const source = newSource();
    await expect(containers.get(source, settingsOf({ network: 'none-such' }))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await made(source)).toEqual([]);
  });

  test('[MCP-4] whose image has no shell is refused with the advice to use a package', async () => {
    const bare = `toolcrib-test-bare:${process.pid}`;
    const archive = join(directory, 'bare.tar');
    await promisify(execFile)('tar', ['--create', '--file', archive, '--directory', directory, 'allowed']);
    await daemon.docker('import', archive, bare);
    onTestFinished(async () => void (await daemon.docker('rmi', '--force', bare)));
    const source = newSource();
    await expect(containers.get(source, containerSchema.parse({ image: bare }))).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringMatching(/no \/bin\/sh.*package_type docker/) as string,
    });
    expect(await made(source)).toEqual([]);
  });

  test('[SRC-3] [SEC-2] is refused when a mount is a link out of the allowed folders, or a volume that is a directory', async () => {
    const source = newSource();
    symlinkSync('/etc', join(allowed, 'link'));
    await expect(containers.get(source, settingsOf({ mounts: [{ source: join(allowed, 'link'), target: '/x' }] }))).rejects.toThrow(
      /the operator has not allowed it/,
    );
    const volume = `toolcrib-test-${randomUUID()}`;
    await daemon.docker('volume', 'create', '--opt', 'type=none', '--opt', 'o=bind', '--opt', 'device=/etc', volume);
    onTestFinished(async () => void (await daemon.docker('volume', 'rm', volume)));
    await expect(containers.get(source, settingsOf({ mounts: [{ source: volume, target: '/x' }] }))).rejects.toThrow(/not allowed/);
    expect(await made(source)).toEqual([]);
  });

  test('[SRC-3] that somebody else runs is used as it is, and stays', async () => {
    await using theirs = await daemon.runContainer(image);
    const source = newSource();
    const container = containerSchema.parse({ name: theirs.name });
    await containers.check(container);
    const { id } = await containers.get(source, container);
    expect((await inspect(id))[0].Name).toBe(`/${theirs.name}`);
    expect(await daemon.processesIn(theirs.name)).not.toEqual([]);
    await containers.release(source.id);
    expect(await daemon.processesIn(theirs.name)).toEqual([]);
  });

  test.each([
    ['is privileged', ['--privileged']],
    ['sees the processes of the machine', ['--pid', 'host']],
    ['has the socket of Docker', ['--volume', '/var/run/docker.sock:/tmp/docker.sock']],
    ['has the directory with the socket of Docker', ['--volume', '/run:/host-run']],
    ['has the whole file system', ['--volume', '/:/host:ro']],
    ['may administer the system', ['--cap-add', 'SYS_ADMIN']],
    ['was made by Toolcrib', ['--label', 'dev.toolcrib.owner=x']],
  ])('[SRC-3] that %s is refused, at registration and at every start', async (_, options) => {
    // Only made and never started, which is enough to see what it is.
    const name = `toolcrib-test-${randomUUID()}`;
    await daemon.docker('create', '--name', name, ...options, image);
    onTestFinished(async () => void (await daemon.docker('rm', '--force', name)));
    const container = containerSchema.parse({ name });
    const refusal = { code: 'VALIDATION_ERROR', field: 'mcp_container.container' };
    await expect(containers.check(container)).rejects.toMatchObject(refusal);
    await expect(containers.get(newSource(), container)).rejects.toMatchObject(refusal);
  });

  test('[ERR-2] that is missing, stopped or paused has its own message, and is used as soon as it runs', async () => {
    const source = newSource();
    const gone = containerSchema.parse({ name: `toolcrib-test-${randomUUID()}` });
    await containers.check(gone);
    await expect(containers.get(source, gone)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await using theirs = await daemon.runContainer(image);
    const container = containerSchema.parse({ name: theirs.name });
    await daemon.docker('pause', theirs.name);
    await expect(containers.get(source, container)).rejects.toThrow(/is paused.*docker unpause/);
    await daemon.docker('unpause', theirs.name);
    await daemon.docker('kill', theirs.name);
    await expect(containers.get(source, container)).rejects.toThrow(/is not running.*docker start/);
    await daemon.docker('start', theirs.name);
    expect((await containers.get(source, container)).id).toMatch(/^[0-9a-f]{64}$/);
  });

  test('[ERR-2] is reported with Docker not running if there is no engine', async () => {
    const away = createDockerEngine(`unix://${directory}/none.sock`, {});
    const without = createContainers({
      engine: away,
      images: createImages({ engine: away, authOf: async () => undefined }),
      owner: createContainerOwner({ dataDir: directory }),
      allowedMounts: [],
    });
    await expect(without.get(newSource(), settingsOf({}))).rejects.toBeInstanceOf(EngineUnavailableError);
    await without.check(containerSchema.parse({ name: 'any' }));
  });
});

interface Inspected {
  Name: string;
  Config: { Labels: Record<string, string>; User: string };
  HostConfig: Record<string, unknown>;
}
