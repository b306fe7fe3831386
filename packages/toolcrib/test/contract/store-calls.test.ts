import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallRecord } from '../../src/model/call.ts';
import type { Database } from '../../src/store/database.ts';
import type { CallPage, FoundCalls } from '../../src/store/find-calls.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { describeStore } from './store-dialects.ts';
import { callIdAt, sampleCall, sampleChainKeys, sampleChange, samplePolicy, someTime } from './store-samples.ts';

describeStore('the record of calls', ({ name, open, place }) => {
  let database: Database;
  let store: Store;
  beforeAll(async () => {
    database = await open();
    store = createStore(database, { keys: sampleChainKeys() });
  });
  afterAll(() => database?.close());

  test('[SEC-4] holds a batch once it is acknowledged, with every field', async () => {
    const calls = [
      sampleCall(),
      sampleCall({ client: 'agent', source_id: 's', tool_id: null, definition_hash: null, status: 'failed', error_code: 'NOT_FOUND' }),
      sampleCall({ policy_revision: 2 ** 40, subject: '"quoted" \\u0000 \n 🧰 $1', duration_us: 0 }),
    ];
    await store.calls.append(calls);
    for (const call of calls) expect(await store.calls.get(call.call_id)).toEqual(call);
    await store.calls.append([]);
    expect(await store.calls.get(callIdAt(someTime))).toBeUndefined();
  });

  test('stores a batch whose names hold characters that no database accepts', async () => {
    const hostile = sampleCall({ tool: 'a\0b\uD800', subject: '\0', client: '\uDC00', duration_us: 12.5 });
    const innocent = sampleCall();
    await store.calls.append([hostile, innocent]);
    expect(await store.calls.get(hostile.call_id)).toEqual({
      ...hostile,
      tool: 'a\uFFFDb\uFFFD',
      subject: '\uFFFD',
      client: '\uFFFD',
      duration_us: 13,
    });
    expect(await store.calls.get(innocent.call_id)).toEqual(innocent);
    expect((await store.calls.list({ limit: 10, subject: '\0' })).calls).toHaveLength(1);
  });

  test('ignores a batch that is sent again', async () => {
    const call = sampleCall();
    await store.calls.append([call]);
    await store.calls.append([{ ...call, status: 'failed' }, sampleCall()]);
    expect(await store.calls.get(call.call_id)).toEqual(call);
  });

  test('refuses a batch as a whole if one record cannot be stored, and writes the next one', async () => {
    const good = sampleCall();
    const bad = sampleCall({ policy_revision: 0.5 });
    await expect(store.calls.append([good, bad])).rejects.toThrow(/REAL value in INTEGER|invalid input syntax/);
    expect(await store.calls.get(good.call_id)).toBeUndefined();
    await store.calls.append([good]);
    expect(await store.calls.get(good.call_id)).toEqual(good);
  });

  test('is listed newest first, by page and by filter', async () => {
    const issuer = 'https://paging.example';
    const calls = Array.from({ length: 7 }, (_, index) =>
      sampleCall({
        issuer,
        started_at: someTime + index,
        subject: index % 2 ? 'odd' : 'even',
        tool: index === 3 ? 'x:y' : 'docs:search',
        source_id: index === 0 ? 's-1' : null,
        user_name: index === 6 ? 'odd' : null,
        status: index === 4 ? 'failed' : index === 5 ? 'timed_out' : 'completed',
      }),
    );
    await store.calls.append(calls.toSpliced(2, 2, calls[3]!, calls[2]!));
    const newest = calls.toReversed();
    const list = (page: Partial<CallPage>) => store.calls.list({ issuer, limit: 10, ...page });
    const first = await list({ limit: 3 });
    expect(first).toEqual({ calls: newest.slice(0, 3), next: newest[2]!.call_id });
    expect(await list({ before: first.next! })).toEqual({ calls: newest.slice(3), next: null });
    expect((await list({ subject: 'odd' })).calls).toEqual(newest.filter((call) => call.subject === 'odd'));
    expect((await list({ tool: 'x:y' })).calls).toEqual([calls[3]]);
    expect((await list({ sourceId: 's-1' })).calls).toEqual([calls[0]]);
    expect((await list({ statuses: ['failed'] })).calls).toEqual([calls[4]]);
    expect((await list({ statuses: ['failed', 'timed_out'] })).calls).toEqual([calls[5], calls[4]]);
    expect((await list({ statuses: ['completed', 'timed_out'], limit: 2 })).calls).toEqual([calls[6], calls[5]]);
    expect((await list({ from: someTime + 2, until: someTime + 4 })).calls).toEqual([calls[3], calls[2]]);
    expect((await list({ from: someTime + 5, statuses: ['failed', 'timed_out'] })).calls).toEqual([calls[5]]);
    // By subject, and by a name that is another's subject.
    expect((await list({ user: 'odd' })).calls).toEqual([calls[6], calls[5], calls[3], calls[1]]);
    expect((await list({ user: 'nobody' })).calls).toEqual([]);
    expect((await list({ issuer: 'https://nobody.example' })).calls).toEqual([]);
  });

  test('[BFF-6] finds rare calls among many step by step, and calls that did not complete by their index', async () => {
    const issuer = 'https://many.example';
    const many = Array.from({ length: 11_000 }, (_, index) => sampleCall({ issuer, started_at: 2_000_000 + index }));
    const rare = [0, 3999, 4000, 9999, 10_999].map((index) => many[index]!);
    for (const call of rare) Object.assign(call, { user_name: 'Rare Person', status: 'timed_out' });
    await store.calls.append(many);
    const found: CallRecord[] = [];
    for (let before: string | null | undefined; before !== null;) {
      const page: FoundCalls = await store.calls.list({ user: 'Rare Person', limit: 2, ...(before === undefined ? {} : { before }) });
      found.push(...page.calls);
      before = page.next;
    }
    expect(found).toEqual(rare.toReversed());
    expect((await store.calls.list({ issuer, statuses: ['timed_out'], limit: 100 })).calls).toEqual(rare.toReversed());

    const newest = sql`select call_id from calls where status <> 'completed' and call_id < ${rare[4]!.call_id} order by call_id desc limit 100`;
    await sql`analyze`.execute(database.kysely);
    const { rows } = await sql`${sql.raw(name === 'sqlite' ? 'explain query plan' : 'explain')} ${newest}`.execute(database.kysely);
    expect(JSON.stringify(rows)).toContain('calls_not_completed');
  });

  test('[BFF-6] is followed in the order in which calls end, whichever server made them', async () => {
    const { ended } = store.calls;
    const other = createStore(database, { keys: sampleChainKeys() });
    let position = await ended.position();
    const next = async (limit = 10) => {
      const read = await ended.after(position, limit);
      ({ position } = read);
      return read.calls;
    };
    expect(await next()).toEqual([]);
    // It began first and ended last.
    const [long, short, late] = [5000, 10, 7000].map((ms) => sampleCall({ duration_us: ms * 1000 }));
    await store.calls.append([short!]);
    expect(await next()).toEqual([short]);
    await other.calls.append([late!]);
    await store.calls.append([long!]);
    expect(await next()).toEqual([long, late]);
    expect(await next()).toEqual([]);
    const more = Array.from({ length: 5 }, (_, index) => sampleCall({ duration_us: index }));
    await store.calls.append(more.slice(0, 3));
    await other.calls.append(more.slice(3));
    const seen = [...(await next(2)), ...(await next(2)), ...(await next(2))];
    expect(seen.map(({ call_id }) => call_id).toSorted()).toEqual(more.map(({ call_id }) => call_id).toSorted());
    expect(await next()).toEqual([]);
  });

  test('[OPS-3] loses calls older than a given moment and keeps those of that moment', async () => {
    const old = Array.from({ length: 2500 }, (_, index) => sampleCall({ started_at: 1_000_000 + (index % 1000) }));
    const young = sampleCall({ started_at: 1_001_000 });
    // In a chain of its own: one is cut from its beginning only, and the other tests have younger calls in theirs.
    await createStore(database, { keys: sampleChainKeys() }).calls.append([...old, young]);
    expect(await store.audit.prune('calls', 1_001_000)).toBe(2500);
    expect(await store.calls.get(young.call_id)).toEqual(young);
    expect(await store.audit.prune('calls', 1_001_000)).toBe(0);
  });

  test('keeps calls that were appended while a change was rolled back', async () => {
    const policy = samplePolicy();
    const calls = Array.from({ length: 20 }, () => sampleCall());
    const appends: Promise<void>[] = [];
    const change = store.change(sampleChange(), async (tx) => {
      appends.push(store.calls.append(calls.slice(0, 10)));
      await tx.policies.insert(policy);
      appends.push(...calls.slice(10).map((call) => store.calls.append([call])));
      await tx.policies.list();
      throw new Error('changed my mind');
    });
    await expect(change).rejects.toThrow('changed my mind');
    await Promise.all(appends);
    for (const call of calls) expect(await store.calls.get(call.call_id)).toEqual(call);
    expect(await store.policies.get(policy.id)).toBeUndefined();
  });

  test('[SEC-4] loses no acknowledged call on kill -9', async () => {
    const program = new URL('../fixtures/append-calls.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [program, JSON.stringify(place())], { stdio: ['ignore', 'pipe', 'inherit'] });
    const acknowledged: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged.push(line);
      if (acknowledged.length === 200) child.kill('SIGKILL');
    }
    if (child.signalCode === null) await once(child, 'exit');
    expect(child.signalCode).toBe('SIGKILL');
    await using reopened = await open();
    const { calls, audit } = createStore(reopened, { keys: sampleChainKeys() });
    // The last line may have been cut.
    const whole = acknowledged.filter((id) => id.length === 36);
    expect(whole.length).toBeGreaterThanOrEqual(199);
    const lost = [];
    for (const id of whole) if ((await calls.get(id)) === undefined) lost.push(id);
    expect(lost).toEqual([]);
    expect(await audit.verify()).toMatchObject({ ok: true });
  });
});
