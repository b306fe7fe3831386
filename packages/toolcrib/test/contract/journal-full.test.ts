import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createAcceptance } from '../../src/execution/acceptance.ts';
import { createRecorder } from '../../src/execution/recorder.ts';
import type { SqliteDatabase } from '../../src/store/database.ts';
import { openJournal, type Journal } from '../../src/store/journal/journal.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { isRejectedValue, storageTrouble } from '../../src/store/storage-trouble.ts';
import { createStore } from '../../src/store/store.ts';
import { smallDisk, type SmallDisk } from '../fixtures/small-disk.ts';
import { temporaryDirectory } from '../running-server.ts';
import { sampleCall, sampleChainKeys } from './store-samples.ts';

const disk = await smallDisk(4 * 2 ** 20);
const isRequired = process.env.TOOLCRIB_REQUIRE_PARTS === '1';

test.skipIf(disk !== undefined || !isRequired)('a disk can be mounted: run the tests as root, on Linux', () => {
  expect(disk).toBeDefined();
});

const diskIsFull = 'The disk is full: make room where the database is.';

describe.skipIf(disk === undefined)('[SEC-4] a journal on a full disk', () => {
  const small = disk as SmallDisk;
  let round = 0;
  let folder = '';
  beforeEach(() => {
    folder = join(small.path, String(++round));
    mkdirSync(folder);
  });
  afterAll(() => small[Symbol.asyncDispose]());

  /** The journal on the small disk or the database, each with the other part where there is room. */
  async function recording(what: 'journal' | 'database', more: { segmentBytes?: number; synced?: boolean } = {}) {
    const opened = new AsyncDisposableStack();
    const roomy = opened.use(await temporaryDirectory()).path;
    const databaseFile = join(what === 'database' ? folder : roomy, 'toolcrib.db');
    const database: SqliteDatabase = opened.use(await openSqlite(databaseFile));
    const keys = sampleChainKeys('k1');
    const warn = () => undefined;
    const acceptance = createAcceptance({ warn });
    const journal: Journal = opened.adopt(
      await openJournal({
        database,
        databaseFile,
        keys,
        folder: join(what === 'journal' ? folder : roomy, 'journal'),
        server: 'here',
        synced: false,
        warn,
        onTrouble: (reason) => acceptance.suspend('journal', reason),
        onWorking: () => acceptance.resume('journal'),
        ...more,
      }),
      (open) => open.close(),
    );
    const recorder = createRecorder({
      append: (records) => journal.append(records),
      acceptance,
      troubleOf: storageTrouble,
      isRejected: isRejectedValue,
      warn,
      mostTurns: 1,
    });
    const store = createStore(database, { keys, journal });
    return { journal, recorder, acceptance, store, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  }

  type Recording = Awaited<ReturnType<typeof recording>>;

  /** Records until there is no room, makes room, and compares: every call is recorded once, whatever its caller was told. */
  async function fillAndRecover({ recorder, acceptance, store }: Recording, size: number): Promise<number> {
    const calls = Array.from({ length: 3 }, () => sampleCall());
    for (const call of calls) expect(await recorder.record(call)).toBe(true);
    const full = await small.fill();
    for (let isFull = false; !isFull;) {
      const call = sampleCall({ subject: 'x'.repeat(size) });
      calls.push(call);
      isFull = !(await recorder.record(call));
    }
    expect(acceptance.reasons()).toEqual([diskIsFull]);
    const last = sampleCall();
    calls.push(last);
    expect(await recorder.record(last)).toBe(false);
    await full[Symbol.asyncDispose]();
    expect(await recorder.confirm(last.call_id, 20_000)).toBe(true);
    await expect.poll(() => acceptance.reasons(), { timeout: 20_000 }).toEqual([]);
    const after = sampleCall();
    expect(await recorder.record(after)).toBe(true);
    const { calls: found } = await store.calls.list({ limit: 1000 });
    expect(found.map(({ call_id }) => call_id)).toEqual(
      [...calls, after]
        .map(({ call_id }) => call_id)
        .toSorted()
        .toReversed(),
    );
    expect(await store.audit.verify()).toMatchObject({ ok: true });
    return found.length;
  }

  test('goes on in the same place when an entry did not fit', async () => {
    await using full = await recording('journal');
    // Larger than what is left in the last page: a part of it is written.
    expect(await fillAndRecover(full, 6000)).toBeGreaterThan(4);
  });

  test('does so where every record has to reach the disk', async () => {
    await using full = await recording('journal', { synced: true });
    expect(await fillAndRecover(full, 6000)).toBeGreaterThan(4);
  });

  test('goes on when another segment could not be begun', async () => {
    await using full = await recording('journal', { segmentBytes: 1 });
    await fillAndRecover(full, 10);
    expect(readdirSync(join(folder, 'journal')).length).toBeLessThan(3);
  });

  test('begins when its first file could not be made', async () => {
    await using full = await recording('journal');
    const filled = await small.fill();
    const call = sampleCall();
    expect(await full.recorder.record(call)).toBe(false);
    expect(full.acceptance.reasons()).toEqual([diskIsFull]);
    await filled[Symbol.asyncDispose]();
    expect(await full.recorder.confirm(call.call_id, 20_000)).toBe(true);
    expect(await full.store.calls.get(call.call_id)).toEqual(call);
    expect(await full.store.audit.verify()).toMatchObject({ ok: true });
  });

  test('accepts nothing while it cannot be brought into the database, and loses nothing', async () => {
    await using full = await recording('database');
    const { recorder, acceptance, store } = full;
    const filled = await small.fill();
    const calls = Array.from({ length: 2000 }, () => sampleCall());
    // They are in the journal: their callers were told so.
    expect(await Promise.all(calls.map((call) => recorder.record(call)))).not.toContain(false);
    await expect.poll(() => acceptance.reasons(), { timeout: 20_000 }).toEqual([diskIsFull]);
    await filled[Symbol.asyncDispose]();
    await expect.poll(() => acceptance.reasons(), { timeout: 20_000 }).toEqual([]);
    expect(await store.audit.verify()).toMatchObject({ ok: true, ledgers: [{ rows: 2000 }, {}, {}] });
  });
});
