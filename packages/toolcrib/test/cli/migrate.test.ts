import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../src/net/free-port.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { devToken, spawnServer, temporaryDirectory, type ServerProcess, type TemporaryDirectory } from '../running-server.ts';
import { runToolcrib, type Ended } from './run-toolcrib.ts';

const asAdmin = async (server: ServerProcess) => server.client(await devToken(server.url, 'admin'));
type Admin = Awaited<ReturnType<typeof asAdmin>>;

describe.skipIf(!part('postgres').available)('[OPS-2] the migration from SQLite to PostgreSQL', () => {
  let folder: TemporaryDirectory;
  let data: string;
  let postgres: Awaited<ReturnType<typeof freshPostgresDatabase>>;
  /** The development issuer has it in its name, and so has the owner of an idempotency key. */
  let port: number;
  let before: Awaited<ReturnType<typeof stateOf>>;
  let whileServing: Ended;
  let moved: Ended;

  /** Everything stored, as an administrator sees it. */
  async function stateOf(admin: Admin) {
    const read = async (noun: string) => (await admin.get(`/api/${noun}`)).json;
    const sources = (await read('sources')).sources as { name: string; namespace: string; id: string }[];
    const names = sources.map(({ name, namespace, id }) => [name, namespace, id]);
    const tools = ((await read('tools')).tools as { tool_id: string }[]).map(({ tool_id }) => tool_id);
    const events = ((await read('events')).events as { id: number }[]).map(({ id }) => id);
    const calls = ((await read('calls')).calls as { call_id: string }[]).map(({ call_id }) => call_id);
    const rules = { groups: await read('groups'), policies: await read('policies'), secrets: await read('secrets') };
    return { names, tools, events, calls, rules };
  }
  const expressions = ['6*7', '1/3', 'pizza'] as const;
  const calculate = (admin: Admin, expression: string) =>
    admin.call('builtin:calculator', { expression }, {}, { 'idempotency-key': expression });

  beforeAll(async () => {
    folder = await temporaryDirectory();
    data = join(folder.path, 'data');
    postgres = await freshPostgresDatabase();
    port = await freePort('127.0.0.1');
    await using server = await spawnServer(['--data', data, '--port', String(port)]);
    const admin = await asAdmin(server);
    await admin.put('/api/secrets/API_KEY', { value: 'kept' });
    await admin.post('/api/groups', { id: 'kept', name: 'Kept', selectors: [{ name: '*' }] });
    for (const expression of expressions) await calculate(admin, expression);
    before = await stateOf(admin);
    whileServing = await runToolcrib(['migrate', '--data', data, '--database', postgres.url]);
    await server[Symbol.asyncDispose]();
    // A call that a killed server left behind.
    const database = new DatabaseSync(join(data, 'toolcrib.db'));
    database
      .prepare('insert into calls_in_flight (call_id, server, ends_by, record) select ?, ?, ?, ? ')
      .run('left-behind', 'here', Date.now() + 3_600_000, recordOf('left-behind', database));
    database.close();
    moved = await runToolcrib(['migrate', '--data', data, '--database', postgres.url, '--json']);
  });
  afterAll(async () => {
    await postgres[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  test('copies every row and verifies the record', () => {
    expect(moved).toMatchObject({ code: 0 });
    const { rows, record } = JSON.parse(moved.stdout) as { rows: Record<string, number>; record: { ok: boolean } };
    expect(record.ok).toBe(true);
    const database = new DatabaseSync(join(data, 'toolcrib.db'), { readOnly: true });
    const tables = database
      .prepare(`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not like 'toolcrib_%'`)
      .all()
      // Where the journal of this data folder stands says nothing about the other database.
      .filter(({ name }) => name !== 'journals');
    const counted = tables.map(({ name }) => [name, database.prepare(`select count(*) as count from "${String(name)}"`).get()?.count]);
    database.close();
    expect(rows).toEqual(Object.fromEntries(counted));
    expect(rows).toMatchObject({ calls: expect.toSatisfy((count: number) => count >= 3), secrets: 1, answers: 3 });
  });

  test('is refused while a server runs on the data folder', () => {
    expect(whileServing).toMatchObject({ code: 1, stderr: expect.stringContaining('Another Toolcrib server is using') });
  });

  test('leaves the data folder unchanged', async () => {
    expect((await readdir(data)).filter((name) => name.startsWith('moving-'))).toEqual([]);
  });

  test('lets a server on PostgreSQL continue where the other one stopped', async () => {
    await using server = await spawnServer(['--data', data, '--port', String(port)], { TOOLCRIB_DATABASE: postgres.url });
    const admin = await asAdmin(server);
    const after = await stateOf(admin);
    expect(after).toMatchObject({ names: before.names, rules: before.rules });
    expect(after.tools.toSorted()).toEqual(before.tools.toSorted());
    expect(after.events).toEqual(expect.arrayContaining(before.events));
    expect(after.calls).toEqual(expect.arrayContaining(before.calls));
    // It was under way when the old server was killed.
    expect(after.calls).toContain('left-behind');
    const repeated = await calculate(admin, expressions[0]);
    expect(before.calls).toContain(repeated.json.call_id);
    expect((await admin.post('/api/groups', { id: 'after', name: 'After' })).status).toBe(201);
    expect((await admin.get('/api/audit/verify')).json.ok).toBe(true);
  });

  test('refuses a database that is not empty, and changes nothing', async () => {
    const again = await runToolcrib(['migrate', '--data', data, '--database', postgres.url]);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
  });

  test.each([
    ['without a database to copy to', () => ['--data', data], 2, '--database'],
    [
      'where there is no data folder',
      () => ['--data', join(folder.path, 'nowhere'), '--database', postgres.url],
      1,
      'There is no database',
    ],
  ])('%s says what to give', async (_when, args, code, words) => {
    expect(await runToolcrib(['migrate', ...args()])).toMatchObject({ code, stderr: expect.stringContaining(words) });
  });

  test('refuses unfinished long-running calls, because PostgreSQL has another engine for them', async () => {
    const database = new DatabaseSync(join(data, 'toolcrib.db'));
    database.exec(`insert into durable_jobs (id, attempts, input) values ('unfinished', 1, 'sealed')`);
    database.close();
    await using empty = await freshPostgresDatabase();
    const refused = await runToolcrib(['migrate', '--data', data, '--database', empty.url]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('1 long-running call has not ended') });
  });
});

/** A record as the gateway notes it: like that of a call that has ended. */
function recordOf(callId: string, database: DatabaseSync): string {
  const { chain: _chain, seq: _seq, mac: _mac, ...ended } = database.prepare('select * from calls limit 1').get() ?? {};
  return JSON.stringify({ ...ended, call_id: callId, status: 'unknown' });
}
