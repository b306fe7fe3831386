import { expect, test } from 'vitest';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { storageTrouble } from '../../src/store/storage-trouble.ts';
import { createStore } from '../../src/store/store.ts';
import { sampleChange, samplePolicy } from './store-samples.ts';

test('a change that finds no room reports that, and not a failed rollback', async () => {
  await using database = await openSqlite(':memory:');
  const store = createStore(database);
  const { page_count: pages } = database.connection.prepare('pragma page_count').get() as { page_count: number };
  database.connection.exec(`pragma max_page_count = ${pages}`);
  // More than the pages there are have room for.
  const many = Array.from({ length: 40 }, () => samplePolicy({ description: 'x'.repeat(3000) }));
  const insertMany = () =>
    store.change(sampleChange(), async (tx) => {
      for (const policy of many) await tx.policies.insert(policy);
    });
  const failed = await insertMany().catch((error: unknown) => error);
  expect(String(failed)).toContain('database or disk is full');
  expect(storageTrouble(failed)).toBe('The disk is full: make room where the database is.');
  database.connection.exec('pragma max_page_count = 4294967294');
  await insertMany();
  expect(await store.policies.list()).toHaveLength(many.length);
});
