import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChangeEvent } from '../../src/model/event.ts';
import type { Database } from '../../src/store/database.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { describeStore } from './store-dialects.ts';
import { sampleChainKeys, sampleChange, sampleGroup, samplePolicy, someTime } from './store-samples.ts';

describeStore('changes and their events', ({ open }) => {
  let database: Database;
  let store: Store;
  beforeAll(async () => {
    database = await open();
    store = createStore(database, { now: () => someTime, keys: sampleChainKeys() });
  });
  afterAll(() => database?.close());

  test('start at revision 0', async () => {
    expect(await store.events.lastId()).toBe(0);
    expect(await store.events.list({ limit: 10 })).toEqual([]);
  });

  test('[SEC-4] are made together', async () => {
    const policy = samplePolicy();
    const change = sampleChange({
      subject: policy.id,
      actor: 'https://issuer.example admin',
      before: { a: ['\0', null] },
      after: { list: [1.5, 'ü'] },
    });
    const event = await store.change(change, (tx) => tx.policies.insert(policy));
    expect(event).toEqual({ ...change, id: expect.any(Number), at: someTime, client: null, address: null, actor_name: null });
    expect(await store.policies.get(policy.id)).toEqual(policy);
    expect(await store.events.list({ limit: 1 })).toEqual([event]);
  });

  test('are both absent when a change fails', async () => {
    const policy = samplePolicy();
    const before = await store.events.lastId();
    const failing = store.change(sampleChange(), async (tx) => {
      await tx.policies.insert(policy);
      await tx.policies.insert(policy);
    });
    await expect(failing).rejects.toMatchObject({ name: 'CribError', code: 'CONFLICT' });
    expect(await store.policies.get(policy.id)).toBeUndefined();
    expect(await store.events.lastId()).toBe(before);
  });

  test('can use what the change read in its transaction', async () => {
    const group = sampleGroup();
    await store.groups.insert(group);
    const change = sampleChange({ kind: 'group-deleted', topic: 'group', subject: group.id, after: null });
    const event = await store.change(change, async (tx) => {
      change.before = { name: (await tx.groups.get(group.id))?.name ?? null };
      await tx.groups.delete(group.id);
    });
    expect(event.before).toEqual({ name: group.name });
  });

  test('are listed once each, by topic, after a given event', async () => {
    const before = await store.events.lastId();
    for (const [topic, subject] of [
      ['tool', 'a'],
      ['tool', 'a'],
      ['source', 'a'],
      ['policy', 'b'],
      ['tool', 'c'],
    ] as const)
      await store.change(sampleChange({ topic, subject }), async () => {});
    const changed = await store.events.subjectsAfter(before, ['source', 'tool'], 10);
    expect(changed.map(({ topic, subject }) => `${topic} ${subject}`).toSorted()).toEqual(['source a', 'tool a', 'tool c']);
    expect(await store.events.subjectsAfter(before, ['source', 'tool'], 2)).toHaveLength(2);
    expect(await store.events.subjectsAfter(await store.events.lastId(), ['source', 'tool'], 10)).toEqual([]);
  });

  test('are paged in both directions and by topic', async () => {
    const events: ChangeEvent[] = [];
    const start = await store.events.lastId();
    for (const topic of ['source', 'tool', 'source', 'secret'] as const)
      events.push(await store.change(sampleChange({ topic }), async () => {}));
    expect(await store.events.list({ after: start, limit: 3 })).toEqual(events.slice(0, 3));
    expect(await store.events.list({ limit: 2 })).toEqual(events.slice(2).reverse());
    expect(await store.events.list({ before: events[2]!.id, limit: 2 })).toEqual(events.slice(0, 2).reverse());
    expect(await store.events.list({ after: start, topic: 'source', limit: 9 })).toEqual([events[0], events[2]]);
    expect(await store.events.lastId(['source', 'tool'])).toBe(events[2]!.id);
    expect(await store.events.lastId(['tool'])).toBe(events[1]!.id);
    expect(await store.events.lastId()).toBe(events[3]!.id);
    expect(await store.events.lastId([])).toBe(0);
  });

  test('get ids in the order of their commits when made at once', async () => {
    const seen: number[] = [];
    const changes = Array.from({ length: 12 }, async (_, index) => {
      const { id } = await store.change(sampleChange({ subject: `s${index}` }), async (tx) => {
        // Everything committed before us has a smaller id than ours, and was visible here.
        seen.push(await tx.events.lastId());
      });
      return id;
    });
    const ids = await Promise.all(changes);
    expect(new Set(ids).size).toBe(12);
    const sorted = ids.toSorted((a, b) => a - b);
    expect(seen.toSorted((a, b) => a - b).slice(1)).toEqual(sorted.slice(0, -1));
  });

  test('can have a subject with characters that no database accepts', async () => {
    const event = await store.change(sampleChange({ subject: 'a\0b', actor: '\uD800' }), async () => {});
    expect(event).toMatchObject({ subject: 'a\uFFFDb', actor: '\uFFFD' });
  });
});
