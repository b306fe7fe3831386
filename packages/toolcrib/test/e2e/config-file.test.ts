import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { devToken, spawnServer, temporaryDirectory, until, untilSeen, type ServerProcess } from '../running-server.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { fixture } from '../fixtures/open-server.ts';
import { freshPostgresDatabase, part } from '../parts.ts';

const postgres = part('postgres');
const keys = `k1:${randomBytes(32).toString('base64')}`;
const group = (name: string) => `groups: {only: {name: ${name}}}\n`;

const appliedAt = async (client: ApiClient) =>
  /^toolcrib_config_last_reload_timestamp_seconds (\S+)/m.exec((await client.get('/metrics')).text)?.[1];

/** A server that follows a file which begins so. */
async function following(path: string, text: string) {
  await using stack = new AsyncDisposableStack();
  const data = stack.use(await temporaryDirectory());
  await writeFile(path, text);
  const server = stack.use(await spawnServer(['--data', data.path, '--config', path]));
  const admin = server.client(await devToken(server.url, 'admin'));
  const resources = stack.move();
  return {
    server,
    admin,
    nameOf: async (id: string): Promise<string | undefined> => (await admin.get(`/api/groups/${id}`)).json.name,
    metric: async (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec((await admin.get('/metrics')).text)?.[1]),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const logged = (server: ServerProcess, words: string) => untilSeen(() => server.log.some((line) => line.includes(words)));

describe.skipIf(!postgres.available)('[SRC-6] two servers that follow the same file on one PostgreSQL', () => {
  test('make each change once', async () => {
    await using folder = await temporaryDirectory();
    await using database = await freshPostgresDatabase();
    const path = join(folder.path, 'toolcrib.yaml');
    await writeFile(path, group('First'));
    const start = (data: string) =>
      spawnServer(['--data', join(folder.path, data), '--config', path, '--database', database.url], { TOOLCRIB_KEYS: keys });
    const [first, second] = await Promise.all([start('a'), start('b')]);
    await using stack = new AsyncDisposableStack();
    stack.use(first);
    stack.use(second);
    const admin = first.client(await devToken(first.url, 'admin'));
    const kinds = async () => {
      const { json } = await admin.get('/api/events?topic=group');
      return json.events.filter(({ subject }: { subject: string }) => subject === 'only').map(({ kind }: { kind: string }) => kind);
    };
    expect(await kinds()).toEqual(['group-created']);
    /** Writes the file, and waits until both have read it. */
    const write = async (text: string) => {
      const clients = [first.client(), second.client()];
      const before = await Promise.all(clients.map(appliedAt));
      await writeFile(path, text);
      for (const [index, client] of clients.entries()) await until(async () => (await appliedAt(client)) !== before[index]);
    };
    await write(group('Second'));
    await write('groups: {last: {}}');
    expect((await kinds()).sort()).toEqual(['group-changed', 'group-created', 'group-deleted']);
  });
});

describe('[SRC-6] a server that follows a file', () => {
  test('applies it at the start and after every change, however it is written', async () => {
    await using folder = await temporaryDirectory();
    const path = join(folder.path, 'toolcrib.yaml');
    await using following_ = await following(path, group('First'));
    const { admin, nameOf, metric } = following_;
    expect(await nameOf('only')).toBe('First');
    const { json } = await admin.get('/api/events?topic=group');
    expect(json.events.find(({ subject }: { subject: string }) => subject === 'only').actor).toBe('system');
    expect(await metric('toolcrib_config_last_reload_success')).toBe(1);

    await writeFile(path, group('Written'));
    await until(async () => (await nameOf('only')) === 'Written');

    // As editors do it.
    await writeFile(`${path}~`, group('Replaced'));
    await rename(`${path}~`, path);
    await until(async () => (await nameOf('only')) === 'Replaced');

    await unlink(path);
    await logged(following_.server, 'does not exist');
    expect(await nameOf('only')).toBe('Replaced');
    await writeFile(path, 'groups: {other: {}}\n');
    await until(async () => (await admin.get('/api/groups/only')).status === 404);
    expect(await nameOf('other')).toBe('other');
    expect(await metric('toolcrib_config_last_reload_success')).toBe(1);
  });

  test('follows links the way a Kubernetes volume changes them', async () => {
    await using folder = await temporaryDirectory();
    const place = (version: string) => join(folder.path, version);
    await mkdir(place('..v1'));
    await mkdir(place('..v2'));
    await writeFile(join(place('..v2'), 'toolcrib.yaml'), group('Second'));
    await symlink('..v1', place('..data'));
    await symlink(join('..data', 'toolcrib.yaml'), place('toolcrib.yaml'));
    await using following_ = await following(place('toolcrib.yaml'), group('First'));
    expect(await following_.nameOf('only')).toBe('First');
    await symlink('..v2', place('..data_tmp'));
    await rename(place('..data_tmp'), place('..data'));
    await rm(place('..v1'), { recursive: true });
    await until(async () => (await following_.nameOf('only')) === 'Second');
  });

  test('keeps its state when the file breaks, a test in it fails, or it is empty, and says where', async () => {
    await using folder = await temporaryDirectory();
    const path = join(folder.path, 'toolcrib.yaml');
    await using following_ = await following(path, group('First'));
    const { server, nameOf, metric } = following_;
    const broken: [text: string, words: string][] = [
      ['groups:\n  only: {nam: Broken}\n', 'toolcrib.yaml:2:10: groups.only.nam'],
      [`${group('Failing')}tests: [{name: Nobody is anybody, can: ['builtin:uuid']}]\n`, 'Nobody is anybody'],
      ['', 'the file is empty'],
      ['sources: {builtin: {mcp_command: [x]}}\n', 'sources.builtin'],
    ];
    for (const [text, words] of broken) {
      await writeFile(path, text);
      await logged(server, words);
      expect([await nameOf('only'), await metric('toolcrib_config_last_reload_success')]).toEqual(['First', 0]);
    }
    await writeFile(path, `server: {retention: 5}\n${group('Mended')}`);
    await until(async () => (await nameOf('only')) === 'Mended');
    await logged(server, 'needs a restart');
    expect(await metric('toolcrib_config_last_reload_success')).toBe(1);
  });

  test('starts with a source that fails, but not with a broken file', async () => {
    await using folder = await temporaryDirectory();
    const path = join(folder.path, 'toolcrib.yaml');
    const command = JSON.stringify(fixture('crash-handshake'));
    await using following_ = await following(path, `sources: {broken: {mcp_command: ${command}}}\n${group('First')}`);
    await until(async () => (await following_.admin.get('/api/sources/broken')).json.status.state === 'error');
    expect(await following_.nameOf('only')).toBe('First');
    await writeFile(path, 'groups: 7\n');
    await expect(spawnServer(['--data', join(folder.path, 'data'), '--config', path])).rejects.toThrow(`${path}:1:1: groups`);
    await writeFile(path, "tests: [{name: Nobody is anybody, can: ['builtin:uuid']}]\n");
    await expect(spawnServer(['--data', join(folder.path, 'data'), '--config', path])).rejects.toThrow('Nobody is anybody');
  });
});
