import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ArtifactRow } from '../../src/store/artifacts.ts';
import type { Database } from '../../src/store/database.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { describeStore } from './store-dialects.ts';
import { callIdAt, sampleAnswer, someTime } from './store-samples.ts';

/** So many bytes, of which none is like its neighbour. */
const data = (bytes: number) => Buffer.from(Array.from({ length: bytes }, (_, index) => index % 256));

function artifact(fields: Partial<ArtifactRow> = {}): ArtifactRow {
  const created_at = fields.created_at ?? someTime;
  const base = { call_id: callIdAt(created_at), n: 1, owner: 'https://issuer.example alice', type: 'image', mime_type: 'image/png' };
  return { ...base, bytes: 1000, created_at, data: data(1000), sealed: 1, ...fields };
}

describeStore('kept artifacts', ({ open }) => {
  let database: Database;
  let store: Store;
  beforeAll(async () => {
    database = await open();
    store = createStore(database);
  });
  afterAll(() => database?.close());

  const there = async (row: ArtifactRow) => (await store.artifacts.get(row.call_id, row.n, row.owner)) !== undefined;

  test('[BFF-5] are found by call, number and owner, byte for byte', async () => {
    const [first] = [artifact()];
    const second = artifact({ call_id: first.call_id, n: 2, mime_type: 'text/plain', data: Buffer.from('\0ü\ud83d') });
    await store.artifacts.keep([first, second], 1_000_000);
    const found = await store.artifacts.get(first.call_id, 1, first.owner);
    expect({ ...found, data: Buffer.from(found?.data ?? []) }).toEqual(first);
    expect(Buffer.from((await store.artifacts.get(first.call_id, 2, first.owner))?.data ?? []).equals(second.data)).toBe(true);
    expect(await store.artifacts.get(first.call_id, 1, 'https://issuer.example bob')).toBeUndefined();
    expect(await store.artifacts.get(first.call_id, 3, first.owner)).toBeUndefined();
  });

  test('[EXEC-7] are limited per owner: the oldest make room, and other owners keep theirs', async () => {
    const owner = 'carol';
    const [bobs, ...rows] = [artifact({ owner: 'bob' }), ...[1, 2, 3].map((age) => artifact({ owner, created_at: someTime + age }))];
    await store.artifacts.keep([bobs], 1000);
    for (const row of rows) await store.artifacts.keep([row], 2500);
    expect(await Promise.all([bobs, ...rows].map(there))).toEqual([true, false, true, true]);
  });

  test('[EXEC-7] [EXEC-9] share a limit with the kept answers of their owner: the oldest of both go, answers lose their content', async () => {
    const owner = 'erin';
    const answers = [1, 3].map((age) => sampleAnswer({ owner, created_at: someTime + age, idempotency_key: `key ${age}` }));
    const others = sampleAnswer({ owner: 'frank', created_at: someTime });
    for (const row of [...answers, others]) {
      await store.answers.claim(row);
      await store.answers.finish(row.call_id, 'x'.repeat(1000), someTime + 60_000);
    }
    const running = sampleAnswer({ owner, created_at: someTime });
    await store.answers.claim(running);
    const [second, fourth] = [artifact({ owner, created_at: someTime + 2 }), artifact({ owner, created_at: someTime + 4 })];
    await store.artifacts.keep([second], 3500);
    await store.artifacts.keep([fourth], 3500);
    const bodies = async () =>
      Promise.all([...answers, others, running].map(async ({ call_id }) => (await store.answers.get(call_id))?.body));
    const whole = 'x'.repeat(1000);
    expect([await bodies(), await there(second), await there(fourth)]).toEqual([['', whole, whole, null], true, true]);
    expect(await store.answers.claim(sampleAnswer({ owner, idempotency_key: 'key 1' }))).toMatchObject({ claimed: false });
    await store.answers.trim(owner, 1500);
    expect([await bodies(), await there(second), await there(fourth)]).toEqual([['', '', whole, null], false, true]);
  });

  test('are stored all together or not at all', async () => {
    const row = artifact();
    await expect(store.artifacts.keep([row, row], 1_000_000)).rejects.toThrow(/unique/i);
    expect(await there(row)).toBe(false);
  });

  test('[OPS-3] are deleted when they are old, however many there are', async () => {
    const old = Array.from({ length: 120 }, () => artifact({ owner: 'dave', created_at: 5 }));
    const young = artifact({ owner: 'dave', created_at: someTime });
    for (const row of [...old, young]) await store.artifacts.keep([row], 1_000_000);
    expect(await store.artifacts.deleteOlderThan(6)).toBe(120);
    expect([await there(young), await there(old[0] as ArtifactRow)]).toEqual([true, false]);
  });
});
