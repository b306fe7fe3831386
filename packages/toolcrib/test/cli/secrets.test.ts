import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openKeyRing } from '../../src/secrets/open-key-ring.ts';
import { createSecretStore } from '../../src/secrets/secret-store.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { createStore } from '../../src/store/store.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { temporaryDirectory } from '../running-server.ts';
import { writtenKey } from '../secrets/key-rings.ts';
import { runToolcrib, type RunOptions } from './run-toolcrib.ts';
import { startServing } from './serving.ts';

describe('toolcrib secrets', () => {
  let server: Awaited<ReturnType<typeof startServing>>;
  beforeAll(async () => {
    server = await startServing();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const run = (args: string[], options: RunOptions = {}) =>
    runToolcrib(['secrets', ...args], { ...options, env: { TOOLCRIB_URL: server.url, ...options.env } });

  test('[CLI-1] sets, lists and deletes secrets', async () => {
    expect(await run(['list'])).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('There are no secrets') });
    expect(await run(['set', 'github-token'], { input: 'hunter2\n' })).toMatchObject({
      code: 0,
      stdout: 'github-token is set.\n',
      stderr: '',
    });
    expect(await run(['set', 'other', '--value', 'hunter2', '--json'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"name": "other"'),
    });
    const listed = await run(['list']);
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^github-token {2}set \d{4}-.*\nother {9}set \d{4}-.*\n$/) });
    expect(listed.stdout).not.toContain('hunter2');
    expect(await run(['delete', 'other'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('pass --yes to delete other without asking'),
    });
    expect(await run(['delete', 'other', '--yes'])).toMatchObject({ code: 0, stdout: 'other is deleted.\n' });
    expect(await run(['delete', 'other', '--yes'])).toMatchObject({ code: 1, stderr: 'toolcrib: There is no such secret\n' });
    const { stdout } = await run(['list', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ secrets: [{ name: 'github-token' }] });
  });

  test('[CLI-1] removes one line break at the end of the input, and keeps all others', async () => {
    await run(['set', 'lines'], { input: 'a\nb\r\n' });
    await using database = await openDatabase({ file: join(server.data, 'toolcrib.db') });
    const secrets = createSecretStore({ store: createStore(database), keyRing: openKeyRing({ dataDir: server.data, create: false }) });
    expect((await secrets.get('lines'))?.reveal()).toBe('a\nb');
  });

  test.each([
    [['set', 'x'], 'There is no value: pass it on standard input'],
    [['set', '../x', '--value', 'v'], 'cannot be the name of a secret'],
    [['delete', 'a b'], 'cannot be the name of a secret'],
    [['set'], '<name> is missing'],
    [[], 'secrets needs another word: `toolcrib secrets list`, `toolcrib secrets set`'],
  ])('[CLI-1] refuses the command line secrets %j', async (args: string[], message) => {
    expect(await run(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
  });

  test('[BFF-6] is refused for anyone but administrators', async () => {
    const { stdout: token } = await runToolcrib(['token', 'alice'], { env: { TOOLCRIB_URL: server.url } });
    expect(await run(['list', '--token', token.trim()])).toMatchObject({ code: 1, stderr: expect.stringContaining('administrators') });
  });

  test('[SEC-3] refuses to rekey while the server runs', async () => {
    expect(await run(['rekey', '--data', server.data])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Another Toolcrib server is using the data directory'),
    });
  });
});

describe('[SEC-3] toolcrib secrets rekey', () => {
  /** A data directory with these secrets in it, as a server has left it. */
  async function leftBehind(values: Record<string, string>) {
    const directory = await temporaryDirectory();
    await using database = await openDatabase({ file: join(directory.path, 'toolcrib.db') });
    const secrets = createSecretStore({ store: createStore(database), keyRing: openKeyRing({ dataDir: directory.path, create: true }) });
    for (const [name, value] of Object.entries(values)) await secrets.put(name, value);
    return directory;
  }

  async function valueOf(dataDir: string, name: string): Promise<string | undefined> {
    await using database = await openDatabase({ file: join(dataDir, 'toolcrib.db') });
    const secrets = createSecretStore({ store: createStore(database), keyRing: openKeyRing({ dataDir, create: false }) });
    return (await secrets.get(name))?.reveal();
  }

  test('seals everything with a new key, and the old key is no longer needed', async () => {
    await using data = await leftBehind({ a: 'hunter-a', b: 'hunter-b' });
    const run = (...args: string[]) => runToolcrib(['secrets', 'rekey', '--data', data.path, ...args]);
    expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining('0 of 2 secrets') });
    expect(await run('--new-key')).toMatchObject({ code: 0, stdout: expect.stringContaining('2 of 2 secrets'), stderr: '' });
    expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining('0 of 2 secrets') });
    const file = join(data.path, 'keys.json');
    const [newest] = JSON.parse(await readFile(file, 'utf8')) as [object];
    await writeFile(file, JSON.stringify([newest]));
    expect([await valueOf(data.path, 'a'), await valueOf(data.path, 'b')]).toEqual(['hunter-a', 'hunter-b']);
  });

  test('moves the keys of a folder to TOOLCRIB_KEYS', async () => {
    await using data = await leftBehind({ a: 'hunter-a' });
    const [old] = JSON.parse(await readFile(join(data.path, 'keys.json'), 'utf8')) as [{ kid: string; key: string }];
    const env = { TOOLCRIB_KEYS: `${writtenKey('moved')},${old.kid}:${old.key}` };
    const { code, stdout } = await runToolcrib(['secrets', 'rekey', '--data', data.path, '--json'], { env });
    expect({ code, ...JSON.parse(stdout) }).toEqual({ code: 0, total: 1, rewritten: 1, deleted: [], kid: 'moved' });
  });

  test('names secrets that do not open, and deletes them only when told to', async () => {
    await using data = await leftBehind({ a: 'hunter-a' });
    const env = { TOOLCRIB_KEYS: writtenKey('other') };
    const run = (...args: string[]) => runToolcrib(['secrets', 'rekey', '--data', data.path, ...args], { env });
    expect(await run()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/do not open with TOOLCRIB_KEYS: a\. Nothing was changed/),
    });
    expect(await valueOf(data.path, 'a')).toBe('hunter-a');
    expect(await run('--delete-unreadable')).toMatchObject({ code: 0, stderr: expect.stringContaining('Deleted') });
    expect(await valueOf(data.path, 'a')).toBeUndefined();
  });

  test('starts over when the keys are lost, but only when told to give up the secrets', async () => {
    await using data = await leftBehind({ a: 'hunter-a' });
    const run = (...args: string[]) => runToolcrib(['secrets', 'rekey', '--data', data.path, '--new-key', ...args]);
    await rm(join(data.path, 'keys.json'));
    expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining('There are no keys') });
    expect(await run('--delete-unreadable')).toMatchObject({ code: 0, stderr: expect.stringContaining('Deleted') });
    expect(await valueOf(data.path, 'a')).toBeUndefined();
  });

  test('refuses a folder that is not a data folder, and keys on the command line', async () => {
    await using empty = await temporaryDirectory();
    const run = (...args: string[]) => runToolcrib(['secrets', 'rekey', '--data', empty.path, ...args]);
    expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no database') });
    const key = randomBytes(32).toString('base64');
    const { code, stderr } = await run('--keys', `k1:${key}`);
    expect({ code, said: stderr.includes('must be the path of a file'), key: stderr.includes(key) }).toEqual({
      code: 2,
      said: true,
      key: false,
    });
    expect(await run('--new-key', '--keys', '/some/file')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('put the new one in front'),
    });
  });

  const postgres = part('postgres');
  test.skipIf(!postgres.available)('works on PostgreSQL while servers run', async () => {
    await using database = await freshPostgresDatabase();
    const [old, newest] = [writtenKey('old'), writtenKey('new')];
    await using server = await startServing(['--database', database.url], { TOOLCRIB_KEYS: `${old},${newest}` });
    const env = { TOOLCRIB_URL: server.url, TOOLCRIB_KEYS: `${newest},${old}` };
    await runToolcrib(['secrets', 'set', 'a', '--value', 'hunter-a'], { env });
    const { code, stdout } = await runToolcrib(['secrets', 'rekey', '--database', database.url, '--json'], { env });
    // The secret, and the key with which the login bridge signs.
    expect({ code, ...JSON.parse(stdout) }).toEqual({ code: 0, total: 2, rewritten: 2, deleted: [], kid: 'new' });
    expect(await runToolcrib(['secrets', 'set', 'a', '--value', 'hunter-b'], { env })).toMatchObject({ code: 0 });
  });
});

test('[SEC-3] a server says what is wrong with its keys and does not start', async () => {
  await using data = await temporaryDirectory();
  const serve = (keys: string) => runToolcrib(['serve', '--port', '0', '--data', data.path], { env: { TOOLCRIB_KEYS: keys } });
  expect(await serve('k1:c2hvcnQ=')).toMatchObject({ code: 1, stderr: expect.stringContaining('has 40 bits and must have 256') });
  expect(await serve('/no/such/keys')).toMatchObject({ code: 1, stderr: expect.stringContaining('nor a file that can be read (ENOENT)') });
});
