import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshPostgresDatabase, part } from '../parts.ts';
import { devToken, spawnServer, temporaryDirectory, type ServerProcess, type TemporaryDirectory } from '../running-server.ts';
import { runToolcrib, type Ended } from './run-toolcrib.ts';

let folder: TemporaryDirectory;
beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(() => folder[Symbol.asyncDispose]());

const place = (name: string) => join(folder.path, name);
const asAdmin = async (server: ServerProcess) => server.client(await devToken(server.url, 'admin'));

describe('a backup of a server that is being written to', () => {
  let live: string;
  let whole: string;
  let withoutKeys: string;
  let made: Ended[];
  const statuses = new Set<number>();

  beforeAll(async () => {
    [live, whole, withoutKeys] = [place('live'), place('whole.backup'), place('without-keys.backup')];
    const server = await spawnServer(['--data', live]);
    const admin = await asAdmin(server);
    await admin.put('/api/secrets/API_KEY', { value: 'from before' });
    await admin.post('/api/groups', { id: 'before', name: 'Before' });
    const enough = new AbortController();
    const load = (async () => {
      for (let count = 0; !enough.signal.aborted; count++) {
        await admin.post('/api/groups', { id: `load-${count}`, name: 'Load' });
        statuses.add((await admin.post('/api/bff/tools/call', { name: 'builtin:calculator', arguments: { expression: '6 * 7' } })).status);
      }
    })();
    made = [
      await runToolcrib(['backup', whole, '--with-keys', '--data', live]),
      await runToolcrib(['backup', withoutKeys, '--data', live]),
    ];
    enough.abort();
    await load;
    await admin.post('/api/groups', { id: 'after', name: 'After' });
    // Nothing is said to it: what it has not copied into the file stays in the log beside it.
    await server[Symbol.asyncDispose]();
  });

  test('is made while the server answers, and says whether it holds the keys', () => {
    expect([...statuses]).toEqual([200]);
    expect(made).toMatchObject([
      { code: 0, stderr: expect.stringContaining('The keys are in it') },
      { code: 0, stderr: expect.stringContaining('The keys are NOT in it') },
    ]);
  });

  /** Starts a server on a folder and returns what it holds; also verifies the record. */
  async function stateOf(data: string) {
    await using server = await spawnServer(['--data', data]);
    const admin = await asAdmin(server);
    const groups = ((await admin.get('/api/groups')).json.groups as { id: string }[]).map(({ id }) => id);
    const secrets = ((await admin.get('/api/secrets')).json.secrets as { name: string }[]).map(({ name }) => name);
    const verified = await admin.get('/api/audit/verify');
    return { groups, secrets, ok: verified.json.ok as boolean };
  }

  test('is restored over the files of a killed server, write-ahead log included, and the record verifies', async () => {
    const data = place('killed');
    await mkdir(data);
    for (const name of await readdir(live)) if (/^(toolcrib\.db|keys)/.test(name)) await copyFile(join(live, name), join(data, name));
    expect((await stat(join(data, 'toolcrib.db-wal'))).size).toBeGreaterThan(0);
    const unforced = await runToolcrib(['restore', whole, '--data', data]);
    expect(unforced).toMatchObject({ code: 1, stderr: expect.stringContaining('With --force it is moved') });
    const restored = await runToolcrib(['restore', whole, '--data', data, '--force']);
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('is as it was on') });
    const state = await stateOf(data);
    expect(state.ok).toBe(true);
    expect(state.secrets).toEqual(['API_KEY']);
    expect(state.groups).toContain('before');
    expect(state.groups).not.toContain('after');
    const aside = (await readdir(data)).find((name) => name.startsWith('before-restore-')) ?? '';
    expect((await readdir(join(data, aside))).toSorted()).toEqual(['keys.json', 'toolcrib.db', 'toolcrib.db-shm', 'toolcrib.db-wal']);
  });

  test('is restored into an empty folder with its keys, readable by nobody else', async () => {
    const data = place('empty');
    expect(await runToolcrib(['restore', whole, '--data', data])).toMatchObject({ code: 0 });
    for (const path of [whole, withoutKeys, join(data, 'toolcrib.db'), join(data, 'keys.json')]) {
      expect((await stat(path)).mode & 0o077).toBe(0);
    }
    expect((await stateOf(data)).ok).toBe(true);
  });

  test('without keys is restored only beside the keys it belongs to', async () => {
    const data = place('keyless');
    const missing = await runToolcrib(['restore', withoutKeys, '--data', data]);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('The keys are not in this backup') });
    const foreign = await runToolcrib(['restore', withoutKeys, '--data', data], { env: { TOOLCRIB_KEYS: someKey() } });
    expect(foreign).toMatchObject({ code: 1, stderr: expect.stringContaining('sealed with a key this server does not have') });
    expect((await readdir(data)).filter((name) => !name.startsWith('server.lock'))).toEqual([]);
    await copyFile(join(live, 'keys.json'), join(data, 'keys.json'));
    expect(await runToolcrib(['restore', withoutKeys, '--data', data])).toMatchObject({ code: 0 });
    expect((await stateOf(data)).secrets).toEqual(['API_KEY']);
  });

  test('is not restored while a server runs on the folder', async () => {
    const data = place('running');
    await using _server = await spawnServer(['--data', data]);
    const refused = await runToolcrib(['restore', whole, '--data', data, '--force']);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Another Toolcrib server is using') });
  });

  test('does not overwrite a file, and fails where there is no database', async () => {
    expect(await runToolcrib(['backup', whole, '--data', live])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('name another file'),
    });
    const nowhere = await runToolcrib(['backup', place('x'), '--data', place('nowhere')]);
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no database') });
    await expect(stat(place('nowhere'))).rejects.toThrow('ENOENT');
  });

  describe('is refused', () => {
    test.each([
      [
        'when a bit was flipped',
        (bytes: Buffer) => bytes.writeUInt8(bytes.readUInt8(bytes.length - 5000) ^ 1, bytes.length - 5000),
        'its checksum does not match',
      ],
      ['when its beginning was changed', (bytes: Buffer) => bytes.write('9', 110), 'its first lines were changed or cut off'],
      ['when it is not a backup', (bytes: Buffer) => bytes.write('SQLite'), 'is not a backup made with'],
      ['when it is of a newer version', (bytes: Buffer) => bytes.write('toolcrib-backup 2'), 'was made by a newer Toolcrib'],
    ])('%s', async (_how, damage, message) => {
      const bytes = await readFile(whole);
      damage(bytes);
      expect(await refusalOf(bytes)).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
    });

    test('when its end is missing', async () => {
      const cut = (await readFile(whole)).subarray(0, -4096);
      expect(await refusalOf(cut)).toMatchObject({ code: 1, stderr: expect.stringContaining('bytes of') });
    });

    test('when its schema is newer', async () => {
      const data = place('newer');
      expect(await runToolcrib(['restore', whole, '--data', data])).toMatchObject({ code: 0 });
      const database = new DatabaseSync(join(data, 'toolcrib.db'));
      database.exec("insert into toolcrib_migrations values ('2099-01-01-later', '')");
      database.close();
      const file = place('newer.backup');
      expect(await runToolcrib(['backup', file, '--with-keys', '--data', data])).toMatchObject({ code: 0 });
      expect(await refusalOf(await readFile(file))).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('was made by a newer Toolcrib'),
      });
    });

    async function refusalOf(bytes: Buffer) {
      const [file, data] = [place('refused.backup'), place('refused')];
      await writeFile(file, bytes);
      const refused = await runToolcrib(['restore', file, '--data', data]);
      await expect(stat(join(data, 'toolcrib.db'))).rejects.toThrow('ENOENT');
      await rm(data, { recursive: true, force: true });
      return refused;
    }
  });

  test('is not made of damaged pages, which the start and the doctor name', async () => {
    const data = place('damaged');
    await runToolcrib(['restore', whole, '--data', data]);
    const bytes = await readFile(join(data, 'toolcrib.db'));
    bytes.fill(0x55, 8192, 16_384);
    await writeFile(join(data, 'toolcrib.db'), bytes);
    const refused = await runToolcrib(['backup', place('of-damaged.backup'), '--data', data]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/is damaged \(.+\)/) });
    expect((await readdir(folder.path)).filter((name) => name.startsWith('of-damaged'))).toEqual([]);
    const started = await runToolcrib(['serve', '--data', data, '--port', '0']);
    expect(started).toMatchObject({ code: 1, stderr: expect.stringMatching(/is damaged \(.+\).*toolcrib restore/) });
    const { stdout } = await runToolcrib(['doctor', '--data', data, '--json']);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string; detail: string }[] };
    expect(checks.find(({ name }) => name === 'database')).toMatchObject({
      state: 'broken',
      detail: expect.stringContaining('is damaged'),
    });
  });
});

describe.skipIf(!part('postgres').available)('a PostgreSQL database', () => {
  test('is backed up with its own tools, and the restored copy is checked against the keys', async () => {
    await using database = await freshPostgresDatabase();
    const keys = someKey();
    const env = { TOOLCRIB_DATABASE: database.url, TOOLCRIB_KEYS: keys };
    const server = await spawnServer(['--data', place('pg')], env);
    await (await asAdmin(server)).put('/api/secrets/API_KEY', { value: 'kept' });
    await server[Symbol.asyncDispose]();
    expect(await runToolcrib(['backup', place('pg.backup')], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('pg_dump'),
    });
    expect(await runToolcrib(['restore'], { env })).toMatchObject({ code: 0, stdout: expect.stringContaining('The keys fit') });
    const foreign = await runToolcrib(['restore'], { env: { ...env, TOOLCRIB_KEYS: someKey() } });
    expect(foreign).toMatchObject({ code: 1, stderr: expect.stringContaining('sealed with a key this server does not have') });
  });
});

function someKey(): string {
  return `k${randomBytes(3).toString('hex')}:${randomBytes(32).toString('base64')}`;
}
