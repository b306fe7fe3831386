import { sql, type KyselyPlugin } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { formatHead, parseHead, type AuditLedger } from '../../src/model/audit.ts';
import type { CallRecord } from '../../src/model/call.ts';
import type { Database } from '../../src/store/database.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { describeStore } from './store-dialects.ts';
import { hmac } from '../../src/store/audit/hmac.ts';
import { sampleCall, sampleChainKeys, sampleChange, sampleRefusal, someTime } from './store-samples.ts';

const tables = { calls: 'calls', changes: 'events', refusals: 'refusals' } as const;

describeStore('the chains of the record', ({ open }) => {
  let database: Database;
  let store: Store;
  beforeEach(async () => {
    database = await open();
    for (const table of ['calls', 'events', 'refusals', 'chains', 'revisions'])
      await sql`delete from ${sql.table(table)}`.execute(database.kysely);
    store = storeWith('k1');
  });
  afterEach(() => database.close());

  /** A server of its own, with the newest of these keys first. */
  function storeWith(...kids: string[]): Store {
    return createStore(database, { now: () => someTime, keys: sampleChainKeys(...kids) });
  }

  const refusals = (count: number, at = someTime) => Array.from({ length: count }, () => sampleRefusal({ at }));
  const calls = (count: number, at = someTime) => Array.from({ length: count }, () => sampleCall({ started_at: at }));

  async function write(into: Store, ledger: AuditLedger, count: number): Promise<void> {
    if (ledger === 'calls') await into.calls.append(calls(count));
    else if (ledger === 'refusals') await into.refusals.append(refusals(count));
    else for (let made = 0; made < count; made++) await into.change(sampleChange({ subject: `s${made}` }), async () => {});
  }

  async function verdictOf(ledger: AuditLedger, by = store, expected: string[] = []) {
    const { ok, ledgers } = await by.audit.verify(expected.map(parseHead));
    const verdict = ledgers.find((one) => one.ledger === ledger);
    if (verdict === undefined) throw new Error(`Nothing was said of ${ledger}`);
    return { ok, ...verdict };
  }

  async function problems(ledger: AuditLedger, expected: string[] = []): Promise<string[]> {
    const verdict = await verdictOf(ledger, store, expected);
    return verdict.problems.map(({ seq, problem }) => `${seq} ${problem}`);
  }

  const headOf = async (ledger: AuditLedger) => formatHead((await store.audit.heads()).find((head) => head.ledger === ledger)!);

  test('[SEC-4] verify when nothing was changed, whatever the rows hold', async () => {
    const strange = { subject: 'a\0b\uD800 "quoted" 🧰', client: null, duration_us: 12.5, policy_revision: 2 ** 40 };
    await store.calls.append([sampleCall(strange), ...calls(150)]);
    await store.calls.append(calls(3));
    await store.change(sampleChange({ client: 'console', before: { a: ['\0', 1.5, null] }, after: 'ü' }), async () => {});
    await store.change(sampleChange({ actor: '\uD800' }), async () => {});
    await store.refusals.append([sampleRefusal({ subject: 'x\0', address: null }), ...refusals(2)]);
    const { ok, ledgers } = await store.audit.verify();
    expect(ledgers.map(({ ledger, rows, chains, unchained, problems: found }) => [ledger, rows, chains, unchained, found])).toEqual([
      ['calls', 154, 1, 0, []],
      ['changes', 2, 1, 0, []],
      ['refusals', 3, 1, 0, []],
    ]);
    expect(ok).toBe(true);
    expect(ledgers.map(({ heads }) => heads.length)).toEqual([1, 1, 1]);
  });

  test('[SEC-4] verify for rows from before names were kept, and a name cannot be changed, added or removed', async () => {
    const unnamed = sampleCall();
    await store.calls.append([unnamed, sampleCall({ user_name: 'alice' })]);
    await store.change(sampleChange({ address: '127.0.0.1' }), async () => {});
    await store.change(sampleChange({ actor_name: 'admin' }), async () => {});
    await store.refusals.append([sampleRefusal(), sampleRefusal({ user_name: 'bob' })]);
    expect(await store.audit.verify()).toMatchObject({ ok: true });
    // As the version before wrote it: the columns there were then, and no trace of others.
    const { user_name: _name, error_origin: _origin, door: _door, agent: _agent, ...before } = unnamed;
    const [chain] = await database.kysely.selectFrom('chains').select(['id', 'mac']).where('ledger', '=', 'calls').execute();
    const text = `calls:${chain!.id}:1:${chain!.mac}${JSON.stringify(Object.values(before))}`;
    const { mac } = await database.kysely.selectFrom('calls').select('mac').where('seq', '=', 1).executeTakeFirstOrThrow();
    expect(mac).toBe(hmac(sampleChainKeys('k1').find('k1')!, text));

    const named = { calls: 'user_name', changes: 'actor_name', refusals: 'user_name' } as const;
    for (const ledger of ['calls', 'changes', 'refusals'] as const) {
      const update = (value: string, seq: number) =>
        sql.raw(`update ${tables[ledger]} set ${named[ledger]} = ${value} where seq = ${seq}`).execute(database.kysely);
      await update("'mallory'", 1);
      await update('null', 2);
      expect(await problems(ledger)).toEqual(['1 the row was changed', '2 the row was changed']);
    }
  });

  test('[SEC-4] cover columns that were added later where they are set, and hold where they are not', async () => {
    const failed = sampleCall({ status: 'failed', error_code: 'SERVICE_UNAVAILABLE', error_origin: 'source' });
    // As an earlier version has noted it: without a word of whose failure it was.
    const { error_origin: _, ...earlier } = sampleCall();
    await store.calls.append([sampleCall(), failed, earlier as CallRecord]);
    expect(await problems('calls')).toEqual([]);
    expect(await store.calls.get(earlier.call_id)).toEqual({ ...earlier, error_origin: null });
    const set = (origin: string | null, seq: number) =>
      sql`update calls set error_origin = ${origin} where seq = ${seq}`.execute(database.kysely);
    for (const [origin, seq] of [
      ['tool', 2],
      [null, 2],
      ['source', 1],
    ] as const) {
      await set(origin, seq);
      expect(await problems('calls')).toEqual([`${seq} the row was changed`]);
      await set(seq === 2 ? 'source' : null, seq);
    }
    expect(await problems('calls')).toEqual([]);
  });

  for (const ledger of ['calls', 'changes', 'refusals'] as const) {
    const table = tables[ledger];
    const run = (statement: string) => sql.raw(statement).execute(database.kysely);
    const text = ledger === 'calls' ? 'tool' : 'kind';

    test(`[SEC-4] reveal a row of ${ledger} that is edited, removed, moved or inserted`, async () => {
      await write(store, ledger, 10);
      expect(await problems(ledger)).toEqual([]);
      const head = await headOf(ledger);

      await run(`update ${table} set ${text} = 'edited' where seq = 4`);
      expect(await problems(ledger)).toEqual(['4 the row was changed']);
      await run(`delete from ${table} where seq = 4`);
      expect(await problems(ledger)).toEqual(['4 the row was removed']);
      await run(`delete from ${table} where seq = 5`);
      expect(await problems(ledger)).toEqual(['4 the rows 4 to 5 were removed']);

      await run(`update ${table} set seq = -seq where seq in (7, 8)`);
      expect(await problems(ledger)).toContain('-8 the row was put in');
      await run(`update ${table} set seq = 15 + seq where seq < 0`);
      expect(await problems(ledger)).toEqual([
        '4 the rows 4 to 5 were removed',
        '7 the row was changed',
        '8 the row was changed',
        '9 the row was changed',
      ]);
      // With its true place in it again, everything but the first problem is gone.
      await run(`update ${table} set seq = -seq where seq in (7, 8)`);
      await run(`update ${table} set seq = 15 + seq where seq < 0`);
      expect(await problems(ledger)).toEqual(['4 the rows 4 to 5 were removed']);

      await run(`update ${table} set seq = null where seq = 9`);
      expect(await problems(ledger)).toContain('null the row was put in, or its place was removed');
      await run(`update ${table} set seq = 9 where seq is null`);
      await run(`update ${table} set chain = null, seq = null, mac = null where seq = 10`);
      expect(await problems(ledger, [head])).toEqual([
        '4 the rows 4 to 5 were removed',
        '10 the end was cut off: the rows up to 10 were there',
        'null the row is in no chain, though it is younger than the first one',
      ]);
    });

    test(`[SEC-4] reveal that the end of ${ledger} was cut off if its head was noted`, async () => {
      await write(store, ledger, 5);
      const head = await headOf(ledger);
      await write(store, ledger, 2);
      expect(await problems(ledger, [head, await headOf(ledger)])).toEqual([]);
      const [name, chain, , mac] = head.split(':');
      expect(await problems(ledger, [`${name}:${chain}:4:${mac}`])).toEqual(['4 it is not the row that was noted as a head']);
      expect(await problems(ledger, [`${name}:99:4:${mac}`])).toEqual(['4 the chain of an expected head is not there']);
      await run(`delete from ${table} where seq > 3`);
      // The server that wrote them knows of them itself.
      expect(await problems(ledger)).toEqual(['4 the end was cut off: the rows up to 7 were there']);
      store = storeWith('k1');
      expect(await problems(ledger)).toEqual([]);
      expect(await problems(ledger, [head])).toEqual(['4 the end was cut off: the rows up to 5 were there']);
    });

    test(`[SEC-4] reveal at the next start how far ${ledger} had come, and that a whole chain is missing`, async () => {
      await write(store, ledger, 5);
      const other: AuditLedger = ledger === 'calls' ? 'refusals' : 'calls';
      await write(storeWith('k1'), other, 1);
      await write(storeWith('k1'), other, 1);
      expect(await problems(ledger)).toEqual([]);
      await run(`delete from ${table} where seq = 5`);
      expect(await problems(ledger)).toEqual(['5 the end was cut off: the rows up to 5 were there']);
      await run(`delete from chains where ledger = '${ledger}'`);
      const { ok, ledgers } = await storeWith('k1').audit.verify();
      expect(ok).toBe(false);
      expect(ledgers.flatMap(({ problems: found }) => found.map(({ problem }) => problem)).toSorted()).toEqual([
        'chain 1 was removed',
        'there are rows of a chain that was never opened, or was removed',
      ]);
    });

    test(`[OPS-3] [SEC-4] verify for ${ledger} after retention, and nothing else may be missing`, async () => {
      await write(store, ledger, 6);
      const early = await headOf(ledger);
      const time = ledger === 'calls' ? 'started_at' : 'at';
      await run(`update ${table} set ${time} = 1000 where seq in (1, 2, 3, 5)`);
      expect(await store.audit.prune(ledger, 2000)).toBe(3);
      expect(await problems(ledger)).toEqual(['5 the row was changed']);
      await run(`update ${table} set ${time} = ${someTime} where seq = 5`);
      expect(await problems(ledger, [early])).toEqual([]);
      await run(`delete from ${table} where seq = 4`);
      expect(await problems(ledger)).toEqual(['4 the row was removed']);
      await run('update chains set pruned_seq = 4');
      expect(await problems(ledger)).toContain('4 the mark that retention leaves was changed');
      await run('update chains set pruned_seq = 3');
      expect(await store.audit.prune(ledger, someTime + 1)).toBe(2);
      await write(store, ledger, 2);
      expect(await problems(ledger, [early])).toEqual([]);
    });

    test(`begin anew for ${ledger} with a new key, and the old chain verifies while its key is there`, async () => {
      await write(store, ledger, 2);
      store = storeWith('k2', 'k1');
      await write(store, ledger, 2);
      expect(await verdictOf(ledger)).toMatchObject({ ok: true, chains: 2, rows: 4 });
      expect((await verdictOf(ledger, storeWith('k2'))).problems).toMatchObject([
        { chain: 1, problem: 'it cannot be checked: the key k1 is not among the keys of this server' },
      ]);
    });
  }

  test('reveal a changed entry in the list of chains', async () => {
    await write(store, 'calls', 1);
    await write(storeWith('k1'), 'calls', 1);
    await sql`update chains set heads = '' where id = 2`.execute(database.kysely);
    expect(await problems('calls')).toEqual(['null the entry of this chain was changed']);
  });

  test('have no gap after a batch that fails, and hold a batch that is sent twice once', async () => {
    await write(store, 'calls', 2);
    const [first, second] = calls(2);
    await expect(store.calls.append([first!, sampleCall({ policy_revision: 0.5 })])).rejects.toThrow(
      /REAL value in INTEGER|invalid input syntax/,
    );
    await store.calls.append([first!]);
    await store.calls.append([first!, second!]);
    expect(await verdictOf('calls')).toMatchObject({ ok: true, rows: 4 });
  });

  test('give each batch its place when several servers write at once', async () => {
    const servers = [store, storeWith('k1'), storeWith('k1')];
    await Promise.all(
      Array.from({ length: 30 }, (_, index) => {
        const server = servers[index % 3]!;
        return index % 2 ? server.calls.append(calls(3)) : server.change(sampleChange(), async () => {});
      }),
    );
    expect(await verdictOf('calls')).toMatchObject({ ok: true, rows: 45, chains: 3 });
    expect(await verdictOf('changes')).toMatchObject({ ok: true, rows: 15, chains: 1 });
  });

  test('[OPS-3] verify while rows are written, pruned and verified at once', async () => {
    let now = 1;
    const server = createStore(database, { now: () => now, keys: sampleChainKeys() });
    const rounds = Array.from({ length: 12 }, (_, index) => index + 1);
    const writing = (async () => {
      for (const round of rounds) {
        now = round;
        await server.calls.append(calls(400, round));
        await server.change(sampleChange(), async () => {});
      }
    })();
    const cutting = (async () => {
      for (const round of rounds) for (const ledger of ['calls', 'changes'] as const) await server.audit.prune(ledger, round - 2);
    })();
    const verifying = (async () => {
      for (const _round of rounds) expect(await server.audit.verify()).toMatchObject({ ok: true });
    })();
    await Promise.all([writing, cutting, verifying]);
    await server.audit.prune('calls', 12);
    expect(await verdictOf('calls')).toMatchObject({ ok: true, rows: 400 });
  });

  test('[OPS-3] verify while retention deletes more rows after each query of the verification', async () => {
    const rows = 40;
    for (let at = 1; at <= rows; at++) await store.calls.append(calls(1, at));
    let oldest = 1;
    const pruneAfterEachRead: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        oldest += 1;
        await store.audit.prune('calls', oldest);
        return result;
      },
    };
    const verifying = createStore({ ...database, kysely: database.kysely.withPlugin(pruneAfterEachRead) }, { keys: sampleChainKeys('k1') });
    expect(await verdictOf('calls', verifying)).toMatchObject({ ok: true, problems: [] });
    expect(oldest).toBeLessThan(rows);
  });

  test('[SEC-4] reveal to a running server that everything was made to look older than the chains', async () => {
    await write(store, 'calls', 2);
    for (const statement of ['delete from chains', 'update calls set chain = null, seq = null, mac = null'])
      await sql.raw(statement).execute(database.kysely);
    expect(await problems('calls')).toEqual(['2 the chain of an expected head is not there']);
  });

  test('reveal to a running server that the last change was removed', async () => {
    await write(store, 'changes', 3);
    await sql`delete from events where seq = 3`.execute(database.kysely);
    await write(store, 'changes', 1);
    expect(await problems('changes')).toEqual(['3 the row was removed']);
  });

  test('count rows from before there were chains, and retention deletes those too', async () => {
    const before = createStore(database);
    await write(before, 'calls', 3);
    await before.calls.append(calls(2, 1000));
    await sql`update calls set started_at = ${someTime - 1} where started_at = ${someTime}`.execute(database.kysely);
    await write(store, 'calls', 1);
    expect(await verdictOf('calls')).toMatchObject({ ok: true, rows: 1, unchained: 5 });
    expect(await store.audit.prune('calls', 2000)).toBe(2);
    expect(await verdictOf('calls')).toMatchObject({ ok: true, rows: 1, unchained: 3 });
  });

  test('[OPS-3] keep their revision when the change that made it is deleted', async () => {
    const before = createStore(database, { now: () => 1000 });
    await before.change(sampleChange({ topic: 'group' }), async () => {});
    const old = createStore(database, { now: () => 1000, keys: sampleChainKeys() });
    await old.change(sampleChange({ topic: 'policy' }), async () => {});
    const last = await old.change(sampleChange({ topic: 'secret' }), async () => {});
    const topics = ['group', 'policy', 'secret', 'tool'] as const;
    const revisions = () => Promise.all([store.events.lastId(), ...topics.map((topic) => store.events.lastId([topic]))]);
    const seen = await revisions();
    expect(seen[0]).toBe(last.id);
    expect(await store.audit.prune('changes', 2000)).toBe(3);
    expect(await store.events.list({ limit: 10 })).toEqual([]);
    expect(await revisions()).toEqual(seen);
    const next = await store.change(sampleChange({ topic: 'policy' }), async () => {});
    expect(next.id).toBeGreaterThan(last.id);
    expect(await store.events.lastId(['policy'])).toBe(next.id);
    expect(await store.audit.verify()).toMatchObject({ ok: true });
  });

  test('are read page by page, within a time limit', async () => {
    await store.calls.append(Array.from({ length: 1203 }, (_, index) => sampleCall({ started_at: someTime + index })));
    const read = async (range: { from?: number; until?: number }) => {
      const pages = [];
      for await (const page of store.audit.entries('calls', range)) pages.push(page);
      return pages;
    };
    const pages = await read({});
    expect(pages.map(({ length }) => length)).toEqual([500, 500, 203]);
    expect(pages.flat().map(({ started_at }) => started_at)).toEqual(Array.from({ length: 1203 }, (_, index) => someTime + index));
    expect(pages[0]?.[0]).toMatchObject({ chain: 1, seq: 1, mac: expect.any(String), subject: 'alice' });
    expect((await read({ from: someTime + 10, until: someTime + 13 })).flat().map(({ seq }) => seq)).toEqual([11, 12, 13]);
  });
});
