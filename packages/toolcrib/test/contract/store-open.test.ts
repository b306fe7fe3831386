import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockDataDirectory } from '../../src/store/lock-data-directory.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { createStore } from '../../src/store/store.ts';
import { part } from '../parts.ts';
import { describeStore } from './store-dialects.ts';
import { sampleChange, samplePolicy } from './store-samples.ts';

describeStore('a database', ({ name, open }) => {
  test('[OPS-2] shows the same schema to servers that start together on an empty one', async () => {
    const databases = await Promise.all(name === 'postgres' ? [open(), open(), open(), open()] : [open()]);
    for (const database of databases) expect(await createStore(database).events.list({ limit: 1 })).toEqual([]);
    await Promise.all(databases.map((database) => database.close()));
  });

  test('keeps what was stored after closing and opening again', async () => {
    const policy = samplePolicy();
    const first = await open();
    const event = await createStore(first).change(sampleChange(), (tx) => tx.policies.insert(policy));
    await first.close();
    await using second = await open();
    const store = createStore(second);
    expect(await store.policies.get(policy.id)).toEqual(policy);
    expect((await store.change(sampleChange(), async () => {})).id).toBeGreaterThan(event.id);
  });

  test('is refused and left alone when a newer Toolcrib made it', async () => {
    {
      await using database = await open();
      await sql`insert into toolcrib_migrations (name, timestamp) values ('2999-01-01-later', '2999-01-01T00:00:00Z')`.execute(
        database.kysely,
      );
    }
    await expect(open()).rejects.toMatchObject({
      name: 'CribError',
      code: 'CONFLICT',
      message: expect.stringMatching(/newer Toolcrib.*2999-01-01-later.*Run/),
    });
  });
});

describe('a SQLite file', () => {
  let directory = '';
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'toolcrib-open-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  test('is created with its folder, for this account only, with a write-ahead log', async () => {
    const file = join(directory, 'new', 'toolcrib.db');
    await using database = await openDatabase({ file });
    expect((await stat(file)).mode & 0o077).toBe(0);
    expect(await readdir(join(directory, 'new'))).toContain('toolcrib.db-wal');
    const { rows } = await sql`select * from pragma_journal_mode, pragma_synchronous, pragma_foreign_keys, pragma_busy_timeout`.execute(
      database.kysely,
    );
    expect(rows).toEqual([{ journal_mode: 'wal', synchronous: 1, foreign_keys: 1, timeout: 5000 }]);
  });

  test('that is not a database is refused with advice', async () => {
    const text = join(directory, 'notes.txt');
    await writeFile(text, 'These are notes, long enough to be mistaken for the header of a database by nobody at all.\n'.repeat(20));
    await expect(openDatabase({ file: text })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringMatching(/notes\.txt is not a SQLite database\. Name another/),
    });
    const folder = join(directory, 'folder.db');
    await mkdir(folder);
    await expect(openDatabase({ file: folder })).rejects.toMatchObject({
      name: 'CribError',
      message: expect.stringMatching(/folder\.db cannot be opened.*Check/),
    });
    await expect(openDatabase({ file: join(text, 'below.db') })).rejects.toMatchObject({
      name: 'CribError',
      message: expect.stringContaining('cannot be opened'),
    });
    await expect(openDatabase({})).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  test('has no trace of a migration that was cut short', async () => {
    const file = join(directory, 'half.db');
    {
      await using database = await openDatabase({ file });
      await sql`delete from toolcrib_migrations`.execute(database.kysely);
      await sql`drop table sources`.execute(database.kysely);
    }
    // The table of sources can be made again, the table of tools is in the way: the first must not stay either.
    await expect(openDatabase({ file })).rejects.toMatchObject({
      code: 'INTERNAL',
      message: expect.stringMatching(/2026-11-15-first.*left as it was/),
    });
    await expect(openDatabase({ file })).rejects.toMatchObject({ message: expect.stringContaining('table "tools" already exists') });
  });

  test('[OPS-2] belongs to one server at a time, and kill -9 frees it', async () => {
    const data = join(directory, 'data');
    const module = new URL('../../src/store/lock-data-directory.ts', import.meta.url).href;
    const program = `const { lockDataDirectory } = await import(${JSON.stringify(module)});
      globalThis.held = lockDataDirectory(process.argv[1]); console.log('held'); setInterval(() => {}, 60_000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, data], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    expect(() => lockDataDirectory(data)).toThrow(expect.objectContaining({ code: 'CONFLICT', message: expect.stringContaining(data) }));
    child.kill('SIGKILL');
    await once(child, 'exit');
    const held = lockDataDirectory(data);
    expect(() => lockDataDirectory(data)).toThrow('Another Toolcrib server');
    held[Symbol.dispose]();
    held[Symbol.dispose]();
    using again = lockDataDirectory(data);
    expect(again).toBeDefined();
    await writeFile(join(directory, 'file'), '');
    expect(() => lockDataDirectory(join(directory, 'file'))).toThrow('cannot be used');
  });
});

describe('a database URL', () => {
  test('that is not for PostgreSQL is refused without showing its password', async () => {
    for (const url of ['mysql://root:hunter2@localhost/db', 'hunter2', '', 'postgres://u:hunter2@host:notaport/db']) {
      const error = await refusal(openDatabase({ url }));
      expect(error).toMatchObject({
        name: 'CribError',
        code: 'VALIDATION_ERROR',
        message: expect.stringContaining('postgres://user:password@host:5432/database'),
      });
      expect(inspect(error)).not.toContain('hunter2');
    }
  });

  test('of a server that does not answer is refused without showing its password', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    server.close();
    await once(server, 'close');
    const error = await refusal(openDatabase({ url: `postgres://u:hunter2@127.0.0.1:${port}/db` }));
    expect(error).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringMatching(new RegExp(`127\\.0\\.0\\.1:${port}/db cannot be used.*Check`)),
    });
    expect(inspect(error)).not.toContain('hunter2');
  });

  const postgres = part('postgres');
  test.skipIf(!postgres.available)('of a database that does not exist is refused with the advice to create it', async () => {
    const url = new URL(postgres.available ? postgres.url : 'postgres://nowhere');
    url.pathname = '/toolcrib_test_absent';
    await expect(openDatabase({ url: url.href })).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('does not exist. Create it first'),
    });
  });
});

async function refusal(opening: Promise<unknown>): Promise<unknown> {
  return opening.then(
    () => undefined,
    (error: unknown) => error,
  );
}
