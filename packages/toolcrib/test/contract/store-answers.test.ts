import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AnswerRow } from '../../src/store/answers.ts';
import type { Database } from '../../src/store/database.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { describeStore } from './store-dialects.ts';
import { sampleAnswer, someTime } from './store-samples.ts';

describeStore('kept answers', ({ open }) => {
  let database: Database;
  let store: Store;
  beforeAll(async () => {
    database = await open();
    store = createStore(database);
  });
  afterAll(() => database?.close());

  test('[EXEC-9] are claimed by exactly one of many calls with one key, and the others see it', async () => {
    const rows = Array.from({ length: 8 }, () => sampleAnswer({ idempotency_key: 'once', request_hash: 'h' }));
    const claims = await Promise.all(rows.map((row) => store.answers.claim(row)));
    const winners = rows.filter((_, index) => claims[index]!.claimed);
    expect(winners).toHaveLength(1);
    const seen = claims.filter((claim) => !claim.claimed).map((claim) => claim.existing);
    expect(seen).toEqual(Array.from({ length: 7 }, () => winners[0]));
  });

  test('are separate for each owner, and for calls without a key', async () => {
    expect(await store.answers.claim(sampleAnswer({ idempotency_key: 'mine' }))).toEqual({ claimed: true });
    expect(await store.answers.claim(sampleAnswer({ idempotency_key: 'mine', owner: 'bob' }))).toEqual({ claimed: true });
    expect(await store.answers.claim(sampleAnswer())).toEqual({ claimed: true });
    expect(await store.answers.claim(sampleAnswer())).toEqual({ claimed: true });
  });

  test('are claimed once per call id', async () => {
    const row = sampleAnswer();
    await store.answers.claim(row);
    await expect(store.answers.claim(row)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('free their key when they expire', async () => {
    const old = sampleAnswer({ idempotency_key: 'again', expires_at: someTime + 10 });
    await store.answers.claim(old);
    const later = sampleAnswer({ idempotency_key: 'again', created_at: someTime + 10 });
    expect(await store.answers.claim(later)).toEqual({ claimed: true });
    expect(await store.answers.get(old.call_id)).toBeUndefined();
  });

  test('keep the first of two endings', async () => {
    const row = sampleAnswer();
    await store.answers.claim(row);
    expect(await store.answers.get(row.call_id)).toEqual(row);
    expect(await store.answers.finish(row.call_id, '{"n":1}', someTime + 99)).toBe(true);
    expect(await store.answers.finish(row.call_id, '{"n":2}', someTime + 999)).toBe(false);
    expect(await store.answers.get(row.call_id)).toEqual({ ...row, body: '{"n":1}', bytes: 7, expires_at: someTime + 99 });
    expect(await store.answers.finish('unknown', '{}', someTime)).toBe(false);
  });

  test('are marked as begun, in their place or a new one, unless they are finished', async () => {
    const claimed = sampleAnswer({ begun: 0, idempotency_key: 'begun' });
    await store.answers.claim(claimed);
    const later = { deadline_at: someTime + 7000, expires_at: someTime + 70_000 };
    expect(await store.answers.begin({ ...claimed, ...later, idempotency_key: null })).toBe(true);
    expect(await store.answers.get(claimed.call_id)).toEqual({ ...claimed, ...later, begun: 1 });
    const unclaimed = sampleAnswer();
    expect(await store.answers.begin(unclaimed)).toBe(true);
    expect(await store.answers.get(unclaimed.call_id)).toEqual(unclaimed);
    await store.answers.finish(unclaimed.call_id, '{}', someTime);
    expect(await store.answers.begin(unclaimed)).toBe(false);
  });

  test('are finished by somebody else only if the call was not begun, with or without a key', async () => {
    const [kept, freed, begun] = ['kept', 'freed', 'running'].map((key) =>
      sampleAnswer({ begun: key === 'running' ? 1 : 0, idempotency_key: `unbegun ${key}` }),
    ) as [AnswerRow, AnswerRow, AnswerRow];
    for (const row of [kept, freed, begun]) await store.answers.claim(row);
    expect(await store.answers.finishUnbegun(kept.call_id, '{}', someTime + 9, { freesKey: false })).toBe(true);
    expect(await store.answers.finishUnbegun(freed.call_id, '{}', someTime + 9, { freesKey: true })).toBe(true);
    expect(await store.answers.finishUnbegun(begun.call_id, '{}', someTime + 9, { freesKey: true })).toBe(false);
    const keys = await Promise.all([kept, freed, begun].map(async ({ call_id }) => (await store.answers.get(call_id))?.idempotency_key));
    expect(keys).toEqual(['unbegun kept', null, 'unbegun running']);
    expect(await store.answers.begin(kept)).toBe(false);
  });

  test('of a withdrawn call free its key, and answered calls stay as they are', async () => {
    const claimed = sampleAnswer({ idempotency_key: 'withdrawn' });
    await store.answers.claim(claimed);
    const never = sampleAnswer();
    for (const row of [claimed, never]) await store.answers.withdraw({ ...row, body: '{"n":1}', expires_at: someTime + 9 });
    await store.answers.withdraw({ ...claimed, body: '{"n":2}' });
    for (const { call_id } of [claimed, never])
      expect(await store.answers.get(call_id)).toMatchObject({ body: '{"n":1}', idempotency_key: null });
    expect(await store.answers.claim(sampleAnswer({ idempotency_key: 'withdrawn' }))).toEqual({ claimed: true });
  });

  test('show a starting server which calls still run, all of them or those past their deadline', async () => {
    const late = sampleAnswer({ deadline_at: 10 });
    const running = sampleAnswer({ deadline_at: someTime + 5000 });
    const done = sampleAnswer({ deadline_at: 10 });
    for (const row of [late, running, done]) await store.answers.claim(row);
    await store.answers.finish(done.call_id, '{}', someTime);
    expect(await store.answers.listRunning({ deadlineBefore: 11 })).toEqual([late]);
    const all = await store.answers.listRunning();
    expect(all).toEqual(expect.arrayContaining([late, running]));
    expect(all.map((row) => row.call_id)).not.toContain(done.call_id);
  });

  test('are deleted once they have expired, and not before', async () => {
    const short = sampleAnswer({ expires_at: 100 });
    const long = sampleAnswer({ expires_at: 101 });
    await store.answers.claim(short);
    await store.answers.claim(long);
    expect(await store.answers.deleteExpired(100)).toBe(1);
    expect(await store.answers.get(short.call_id)).toBeUndefined();
    expect(await store.answers.get(long.call_id)).toEqual(long);
  });
});
