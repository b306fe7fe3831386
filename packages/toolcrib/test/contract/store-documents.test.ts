import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { describeStore } from './store-dialects.ts';
import { sampleSource, someTime } from './store-samples.ts';

const memory = { sha256: 'abc', origins: ['https://api.example'], imported: { title: 'An API' } };

describeStore('documents of sources', ({ open }) => {
  let database: Database;
  let store: Store;
  beforeAll(async () => {
    database = await open();
    store = createStore(database);
  });
  afterAll(() => database?.close());

  async function begun(text: string | null): Promise<string> {
    const source = sampleSource();
    await store.sources.upsert(source);
    await store.documents.begin(source.id, text, someTime);
    return source.id;
  }

  test('[SRC-5] keep the pasted text, and have no import at first', async () => {
    const text = `openapi: 3.1.0 # ü ${'x'.repeat(1_000_000)}`;
    const id = await begun(text);
    expect(await store.documents.textOf(id)).toBe(text);
    expect(await store.documents.get(id)).toEqual({ sha256: null, origins: null, imported: null, updated_at: someTime });
    expect(await store.documents.textOf(await begun(null))).toBeUndefined();
    expect(await store.documents.get('nobody')).toBeUndefined();
  });

  test('keep the result of an import until the document changes', async () => {
    const id = await begun('first');
    expect(await store.documents.remember(id, memory, { since: someTime, definedAt: someTime, now: someTime })).toBe(true);
    expect(await store.documents.get(id)).toEqual({ ...memory, updated_at: someTime + 1 });
    await store.documents.setText(id, 'second');
    expect(await store.documents.get(id)).toEqual({ ...memory, updated_at: someTime + 1 });
    await store.documents.begin(id, 'third', someTime + 2);
    expect(await store.documents.textOf(id)).toBe('third');
    expect((await store.documents.get(id))?.origins).toBeNull();
  });

  test('do not take the result of an import of an earlier text', async () => {
    const id = await begun(null);
    await store.documents.begin(id, null, someTime + 5);
    expect(await store.documents.remember(id, memory, { since: someTime, definedAt: someTime, now: someTime + 6 })).toBe(false);
    expect((await store.documents.get(id))?.sha256).toBeNull();
  });

  test('do not take the result of an import for an earlier definition', async () => {
    const id = await begun(null);
    expect(await store.documents.remember(id, memory, { since: someTime, definedAt: someTime - 1, now: someTime })).toBe(false);
    expect((await store.documents.get(id))?.sha256).toBeNull();
  });

  test('are deleted with their source', async () => {
    const id = await begun('text');
    await store.sources.delete(id);
    expect(await store.documents.get(id)).toBeUndefined();
    await expect(store.documents.begin(id, 'text', someTime)).rejects.toMatchObject({ code: 'CONFLICT' });
  });
});
