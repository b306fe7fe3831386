import { appendFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CallRecord } from '../../src/model/call.ts';
import type { Database } from '../../src/store/database.ts';
import { JournalWriter } from '../../src/store/journal/journal-writer.ts';
import { openJournal, type Journal, type JournalInput } from '../../src/store/journal/journal.ts';
import { firstPosition, writePosition } from '../../src/store/journal/position.ts';
import { replayJournal } from '../../src/store/journal/replay.ts';
import { segmentFile } from '../../src/store/journal/segment.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { describeStore } from './store-dialects.ts';
import { sampleCall, sampleChainKeys } from './store-samples.ts';

describeStore('the journal', ({ name, place, open }) => {
  let database: Database;
  let folder = '';
  let warnings: string[] = [];
  let troubles: string[] = [];
  const opened: Journal[] = [];
  beforeEach(async () => {
    database = await open();
    for (const table of ['calls', 'chains', 'journals']) await sql`delete from ${sql.table(table)}`.execute(database.kysely);
    folder = join(mkdtempSync(join(tmpdir(), 'toolcrib-journal-')), 'journal');
    [warnings, troubles] = [[], []];
  });
  afterEach(async () => {
    for (const journal of opened.splice(0)) await journal.close();
    await database.close();
    rmSync(join(folder, '..'), { recursive: true });
  });

  const inputOf = (more: Partial<JournalInput> = {}): JournalInput => ({
    database,
    databaseFile: name === 'sqlite' ? (place() as { file: string }).file : undefined,
    keys: sampleChainKeys('k1'),
    folder,
    server: 'here',
    synced: false,
    warn: (message) => void warnings.push(message),
    onTrouble: (reason) => void troubles.push(reason),
    onWorking: () => void troubles.push('working'),
    ...more,
  });

  async function start(more: Partial<JournalInput> = {}): Promise<{ journal: Journal; store: Store }> {
    const journal = await openJournal(inputOf(more));
    opened.push(journal);
    return { journal, store: createStore(database, { keys: sampleChainKeys('k1'), journal }) };
  }

  /** A journal as a server that was killed leaves it: one entry for each list, none of them in the database. */
  async function leftBehind(entries: CallRecord[][], { kid = 'k1', server = 'here' } = {}): Promise<string> {
    const keys = sampleChainKeys(kid);
    const from = firstPosition(server);
    await writePosition(database.kysely, keys, from);
    const writer = new JournalWriter({ folder, keys, from, segment: 1, synced: false });
    for (const records of entries) void writer.append(records);
    writer.finishSegment();
    return segmentFile(folder, 1);
  }

  const replay = () => replayJournal(inputOf());
  const samples = (count: number) => Array.from({ length: count }, () => sampleCall());
  const plainStore = () => createStore(database, { keys: sampleChainKeys('k1') });
  const problemsOf = async (store: Store) =>
    (await store.audit.verify()).ledgers.flatMap((ledger) => ledger.problems.map(({ problem }) => problem));
  const recorded = async () =>
    (await sql<{ call_id: string }>`select call_id from calls order by call_id`.execute(database.kysely)).rows.map(
      ({ call_id }) => call_id,
    );
  const idsOf = (calls: readonly CallRecord[]) => calls.map(({ call_id }) => call_id).toSorted();

  test('[SEC-4] holds what was recorded, and every reader sees it', async () => {
    const { journal, store } = await start();
    const calls = samples(300);
    for (const call of calls) expect(journal.append([call])).toBeUndefined();
    expect(readdirSync(folder)).toEqual(['000001.log']);
    expect(journal.backlog.bytes).toBeGreaterThan(300 * 100);
    expect(await store.calls.get(calls[299]?.call_id ?? '')).toEqual(calls[299]);
    expect((await store.calls.list({ limit: 1000 })).calls).toHaveLength(300);
    expect(journal.backlog).toEqual({ bytes: 0, seconds: 0 });

    const position = await store.calls.ended.position();
    const later = samples(2);
    void journal.append(later);
    expect((await store.calls.ended.after(position, 10)).calls.map(({ call_id }) => call_id)).toEqual(later.map(({ call_id }) => call_id));
    void journal.append(samples(1));
    expect((await store.audit.heads())[0]?.seq).toBe(303);
    void journal.append(samples(1));
    let entries = 0;
    for await (const page of store.audit.entries('calls', {})) entries += page.length;
    expect(entries).toBe(304);
    void journal.append(samples(1));
    expect(await store.audit.verify()).toMatchObject({ ok: true, ledgers: [{ ledger: 'calls', rows: 305, chains: 1 }, {}, {}] });
  });

  test('[SEC-4] is brought in by a thread or without one, in one chain', async () => {
    const { journal, store } = await start({ littleBytes: 2000 });
    for (const count of [1, 1, 300, 1, 500, 1]) {
      for (const call of samples(count)) void journal.append([call]);
      await journal.caughtUp();
    }
    expect(await store.audit.verify()).toMatchObject({ ok: true, ledgers: [{ rows: 804, chains: 1 }, {}, {}] });
  });

  test('[SEC-4] is brought into the database without anybody asking, and leaves nothing behind when it is closed', async () => {
    const { journal } = await start({ synced: true });
    const calls = samples(3);
    await journal.append(calls);
    await expect.poll(recorded, { timeout: 20_000 }).toEqual(idsOf(calls));
    await opened.pop()?.close();
    expect(readdirSync(join(folder, '..'))).toEqual([]);
  });

  test('[SEC-4] of a killed server is brought in before anything else, up to the entry that was not finished', async () => {
    const [first, second] = [samples(2), samples(250)];
    const file = await leftBehind([first, second, samples(1)]);
    truncateSync(file, readFileSync(file).length - 10);
    await replay();
    expect(await recorded()).toEqual(idsOf([...first, ...second]));
    expect(readdirSync(folder)).toEqual([]);
    expect(await problemsOf(plainStore())).toEqual([]);
    expect(warnings).toEqual([]);
    // The next one goes on where this one ended.
    const { journal, store } = await start();
    const more = samples(1);
    void journal.append(more);
    expect(await store.audit.verify()).toMatchObject({ ok: true });
    expect(await recorded()).toEqual(idsOf([...first, ...second, ...more]));
  });

  test('[SEC-4] is brought in from wherever it stopped, and no call twice', async () => {
    const { journal, store } = await start();
    const calls = samples(5);
    void journal.append(calls.slice(0, 2));
    await journal.caughtUp();
    const half = readFileSync(segmentFile(folder, 1));
    for (const call of calls.slice(2)) void journal.append([call]);
    const whole = readFileSync(segmentFile(folder, 1));
    expect(whole.length).toBeGreaterThan(half.length);
    await opened.pop()?.close();
    // As if it had been killed before it was deleted: once more, and with what came after the first two.
    const { segment, offset } = { segment: 1, offset: half.length };
    await sql`update journals set segment = ${segment}, "offset" = ${offset}`.execute(database.kysely);
    rmSync(folder, { recursive: true, force: true });
    expect(await problemsOf(store)).toEqual(
      expect.arrayContaining([expect.stringContaining('journal was brought into the database was changed')]),
    );
    expect(await recorded()).toEqual(idsOf(calls));
  });

  test('[SEC-4] leaves calls as they are that are recorded already', async () => {
    const calls = samples(3);
    const [known] = calls;
    if (known === undefined) throw new Error('No sample');
    await plainStore().calls.append([{ ...known, status: 'unknown' }]);
    await leftBehind([calls]);
    await replay();
    expect(await recorded()).toEqual(idsOf(calls));
    expect((await plainStore().calls.get(known.call_id))?.status).toBe('unknown');
    expect(await problemsOf(plainStore())).toEqual([]);
  });

  test('[SEC-4] does not stop at a value that the database will never take', async () => {
    const bad = { ...sampleCall(), issuer: null as unknown as string };
    const [before, after] = [samples(1), samples(1)];
    await leftBehind([[...before, bad], after]);
    await replay();
    expect(await recorded()).toEqual(idsOf([...before, ...after]));
    expect(warnings).toEqual([expect.stringContaining(bad.call_id)]);
    expect(await problemsOf(plainStore())).toEqual([]);
  });

  test('[SEC-4] of another database, another server or other keys is refused, and nothing is changed', async () => {
    const file = await leftBehind([samples(1)], { server: 'elsewhere' });
    const whole = readFileSync(file);
    await expect(replay()).rejects.toThrow(/belongs to another database: this one never had a journal/);
    await writePosition(database.kysely, sampleChainKeys('k1'), firstPosition('here'));
    await expect(replay()).rejects.toThrow(/belongs to another database or another server/);
    rmSync(file);
    const foreign = await leftBehind([samples(1)], { kid: 'k2' });
    await writePosition(database.kysely, sampleChainKeys('k1'), firstPosition('here'));
    await expect(start()).rejects.toThrow(/was written with the key k2, which is not among the keys of this server/);
    writeFileSync(foreign, 'something else\n');
    await expect(start()).rejects.toThrow(/is not a journal of Toolcrib/);
    expect(readFileSync(foreign, 'utf8')).toBe('something else\n');
    expect(whole.length).toBeGreaterThan(0);
    expect(await recorded()).toEqual([]);
  });

  test('[SEC-4] that never got its first line is deleted', async () => {
    const file = await leftBehind([samples(1)]);
    truncateSync(file, 20);
    await replay();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('[SEC-4] shows for ever that an entry was changed before it was brought in, and keeps the file', async () => {
    const entries = [samples(1), samples(1), samples(2)];
    const file = await leftBehind(entries);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(entries[1]?.[0]?.call_id ?? '', entries[0]?.[0]?.call_id ?? ''));
    await replay();
    expect(await recorded()).toEqual(idsOf([...(entries[0] ?? []), ...(entries[2] ?? [])]));
    expect(warnings).toEqual([expect.stringMatching(/was changed, or lost an entry/)]);
    expect(readdirSync(folder)).toEqual(['000001.log.damaged']);
    expect(await problemsOf(plainStore())).toEqual(['the row was removed']);
    const { store } = await start();
    expect(await problemsOf(store)).toEqual(['the row was removed', expect.stringContaining('000001.log.damaged was changed before')]);
  });

  test('[SEC-4] shows that an entry was taken out, or that the last one was changed', async () => {
    const entries = [samples(1), samples(1), samples(1)];
    const file = await leftBehind(entries);
    const lines = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, lines.toSpliced(2, 1).join('\n'));
    await replay();
    expect(await problemsOf(plainStore())).toEqual(['the row was removed']);
    rmSync(`${file}.damaged`);

    const last = await leftBehind([samples(1), samples(1)]);
    writeFileSync(last, readFileSync(last, 'utf8').replace(/completed(?!.*completed)/s, 'cancelled'));
    await replay();
    const { store } = await start();
    expect(await problemsOf(store)).toContainEqual(expect.stringContaining('.log.damaged was changed before'));
  });

  test('[SEC-4] skips what is no entry between two that belong together', async () => {
    const entries = [samples(1), samples(1)];
    const file = await leftBehind(entries);
    const [header, first, second] = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, [header, first, second?.slice(0, 50), second, ''].join('\n'));
    await replay();
    expect(await recorded()).toEqual(idsOf(entries.flat()));
    expect(await problemsOf(plainStore())).toEqual([]);
  });

  test('[SEC-4] that a power cut left with zeros is no forgery, unless every record had reached the disk', async () => {
    const entries = [samples(1), samples(1), samples(1)];
    const file = await leftBehind(entries);
    const text = readFileSync(file, 'utf8');
    const second = text.split('\n')[2] ?? '';
    writeFileSync(file, text.replace(second, '\0'.repeat(Buffer.byteLength(second))));
    await replay();
    expect(await recorded()).toEqual(idsOf([...(entries[0] ?? []), ...(entries[2] ?? [])]));
    expect(await problemsOf(plainStore())).toEqual([]);
  });

  test('[SEC-4] of a server that runs shows when it is cut off, changed, deleted or joined by another', async () => {
    const { journal, store } = await start();
    for (let count = 0; count < 4; count++) void journal.append(samples(1));
    await journal.caughtUp();
    const file = segmentFile(folder, 1);
    const whole = readFileSync(file);
    expect(await problemsOf(store)).toEqual([]);
    writeFileSync(file, whole.subarray(0, -1));
    expect(await problemsOf(store)).toEqual(expect.arrayContaining([expect.stringContaining('was cut off')]));
    writeFileSync(file, whole.toString().replace('alice', 'mallo'));
    expect(await problemsOf(store)).toEqual([expect.stringContaining('entry 1 of the journal')]);
    writeFileSync(file, whole);
    writeFileSync(segmentFile(folder, 9), 'x');
    expect(await problemsOf(store)).toEqual([expect.stringContaining('that this server has not written')]);
    rmSync(segmentFile(folder, 9));
    rmSync(file);
    expect(await problemsOf(store)).toEqual([expect.stringContaining('was deleted')]);
    writeFileSync(file, whole);
    await sql`update journals set entry = 2`.execute(database.kysely);
    expect(await problemsOf(store)).toEqual(['the note of how far the journal was brought into the database was changed']);
  });

  test('[SEC-4] that is cut off before it is brought in shows it', async () => {
    const { journal, store } = await start();
    void journal.append(samples(1));
    await journal.caughtUp();
    void journal.append(samples(1));
    truncateSync(segmentFile(folder, 1), readFileSync(segmentFile(folder, 1)).length - 20);
    expect(await problemsOf(store)).toContainEqual(expect.stringContaining('was cut off'));
    expect(warnings).toEqual([expect.stringContaining('was changed at its end, or cut off')]);
  });

  test('[SEC-4] [OPS-3] is deleted segment by segment when it is in the database, and when retention asks for it', async () => {
    const { journal, store } = await start({ segmentBytes: 1000 });
    for (let count = 0; count < 40; count++) void journal.append(samples(1));
    expect(readdirSync(folder).length).toBeGreaterThan(5);
    await journal.caughtUp();
    expect(readdirSync(folder)).toHaveLength(1);
    expect(await recorded()).toHaveLength(40);
    expect(await store.audit.prune('calls', Date.now() + 1e12)).toBe(40);
    expect(readdirSync(folder)).toEqual([]);
    void journal.append(samples(1));
    expect(await store.audit.verify()).toMatchObject({ ok: true });
  });

  test('[SEC-4] that cannot be brought in says so to readers, stops what would make it grow, and goes on by itself', async () => {
    const { journal, store } = await start({ patienceMs: 100 });
    const calls = samples(2);
    await sql`alter table calls rename to calls_away`.execute(database.kysely);
    void journal.append(calls);
    await expect(store.calls.list({ limit: 1 })).rejects.toThrow(/^The record cannot be read at the moment/);
    await expect
      .poll(() => troubles, { timeout: 20_000 })
      .toContain('What was recorded cannot be brought into the database: the log says why.');
    expect(warnings).toHaveLength(1);
    await sql`alter table calls_away rename to calls`.execute(database.kysely);
    await expect.poll(recorded, { timeout: 20_000 }).toEqual(idsOf(calls));
    await expect.poll(() => troubles.at(-1)).toBe('working');
    expect(await store.audit.verify()).toMatchObject({ ok: true });
  });

  test('[SEC-4] that grows faster than it is brought in stops what makes it grow', async () => {
    const { journal } = await start({ mostBytes: 0 });
    void journal.append(samples(1));
    expect(troubles).toEqual(['More was recorded than could be brought into the database so far.']);
    await journal.caughtUp();
    await expect.poll(() => troubles.at(-1)).toBe('working');
  });

  test('[SEC-4] is copied to another folder where its own is gone, as far as it is not in the database', async () => {
    const { journal } = await start();
    const calls = samples(3);
    void journal.append(calls);
    rmSync(folder, { recursive: true });
    const other = join(folder, '..', 'other');
    journal.copyTo(other);
    appendFileSync(segmentFile(other, 1), 'entry 2 and nothing more');
    await replayJournal({ ...inputOf(), folder: other });
    expect(await recorded()).toEqual(idsOf(calls));
  });
});
