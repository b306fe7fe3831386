import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ConnectionRow } from '../../src/store/connections.ts';
import type { Database } from '../../src/store/database.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { describeStore } from './store-dialects.ts';
import { sampleSource, someTime } from './store-samples.ts';

describeStore('[SEC-3] connections', ({ open }) => {
  let database: Database;
  let store: Store;
  beforeAll(async () => {
    database = await open();
    store = createStore(database);
  });
  afterAll(() => database?.close());

  let made = 0;
  async function sampleConnection(connection: Partial<ConnectionRow> = {}): Promise<ConnectionRow> {
    const source = sampleSource();
    await store.sources.upsert(source);
    return {
      id: `connection-${++made}`,
      source_id: source.id,
      owner: 'issuer alice',
      version: 1,
      locked_until: 0,
      state_hash: null,
      state_expires_at: null,
      connected_at: null,
      created_at: someTime,
      updated_at: someTime,
      sealed: 'v1.k.a.b.c',
      ...connection,
    };
  }

  test('are found by source and owner, and by the state of a login that was begun', async () => {
    const row = await sampleConnection({ state_hash: 'hash-1', state_expires_at: someTime });
    expect(await store.connections.insert(row)).toBe(true);
    expect(await store.connections.get(row.source_id, row.owner)).toEqual(row);
    expect(await store.connections.getByState('hash-1')).toEqual(row);
    expect(await store.connections.listOf(row.owner)).toContainEqual(row);
    expect(await store.connections.get(row.source_id, 'issuer bob')).toBeUndefined();
  });

  test('are listed once connected, newest first, by owner and source', async () => {
    const rows = [await sampleConnection({ connected_at: 1 }), await sampleConnection({ connected_at: 2, owner: 'issuer bob' })];
    const others = [await sampleConnection(), await sampleConnection({ connected_at: 3, owner: 'source' })];
    for (const row of [...rows, ...others]) await store.connections.insert(row);
    const listed = async (query: object) => (await store.connections.listConnected({ limit: 10, ...query })).map(({ id }) => id);
    expect(await listed({})).toEqual(rows.toReversed().map(({ id }) => id));
    expect(await listed({ limit: 1 })).toEqual([rows[1]?.id]);
    expect(await listed({ owner: 'issuer alice' })).toEqual([rows[0]?.id]);
    expect(await listed({ sourceId: rows[1]?.source_id })).toEqual([rows[1]?.id]);
  });

  test('are one per source and owner, whoever is first', async () => {
    const row = await sampleConnection();
    const both = [store.connections.insert(row), store.connections.insert({ ...row, id: 'another' })];
    expect((await Promise.all(both)).filter(Boolean)).toEqual([true]);
  });

  test('are replaced only if they are still as they were read', async () => {
    const row = await sampleConnection();
    await store.connections.insert(row);
    const writers = Array.from({ length: 10 }, (_, index) => store.connections.update({ ...row, sealed: `written by ${index}` }));
    expect((await Promise.all(writers)).filter(Boolean)).toHaveLength(1);
    expect(await store.connections.get(row.source_id, row.owner)).toMatchObject({ version: 2, sealed: expect.stringContaining('written') });
  });

  test('are deleted with their source, and cannot be made without one', async () => {
    const row = await sampleConnection();
    await store.connections.insert(row);
    await store.sources.delete(row.source_id);
    expect(await store.connections.get(row.source_id, row.owner)).toBeUndefined();
    await expect(store.connections.insert(row)).rejects.toMatchObject({ code: 'CONFLICT' });
  });
});
