import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { describeStore } from './store-dialects.ts';
import { sampleChange, samplePolicy, sampleSource } from './store-samples.ts';

describeStore('[SRC-6] operations of many changes', ({ name, open }) => {
  let databases: Database[];
  let stores: Store[];
  beforeAll(async () => {
    // On SQLite there is one server.
    databases = name === 'postgres' ? [await open(), await open()] : [await open()];
    stores = databases.map((database) => createStore(database));
  });
  afterAll(async () => {
    for (const database of databases) await database.close();
  });

  test('run one after another, even if more are begun than there are connections', async () => {
    let running = 0;
    const most: number[] = [];
    const work = async (store: Store) => {
      most.push(++running);
      const policy = samplePolicy();
      await store.change(sampleChange({ subject: policy.id }), (tx) => tx.policies.insert(policy));
      running--;
    };
    const begun = Array.from({ length: 15 }, () => stores.map((store) => store.exclusively(() => work(store))));
    await Promise.all(begun.flat());
    expect(most).toEqual(begun.flat().map(() => 1));
  });

  test('let the next one go on when one fails', async () => {
    for (const store of stores) {
      await expect(store.exclusively(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
      expect(await store.exclusively(async () => 'yes')).toBe('yes');
    }
  });

  test('remember who keeps an object', async () => {
    const [store] = stores;
    const source = sampleSource({ managed_by: 'file' });
    await store?.sources.upsert(source);
    expect(await store?.sources.get(source.id)).toEqual(source);
    await store?.sources.upsert({ ...source, managed_by: null });
    expect(await store?.sources.get(source.id)).toMatchObject({ managed_by: null });
  });
});
