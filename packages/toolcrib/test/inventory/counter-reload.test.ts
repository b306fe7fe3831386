import { expect, test } from 'vitest';
import { openInventory } from '../../src/inventory/inventory.ts';
import type { SourceRecord } from '../../src/model/source.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { createStore } from '../../src/store/store.ts';

const source = (index: number): SourceRecord => ({
  id: `source-${index}`,
  name: `Source ${index}`,
  namespace: `source-${index}`,
  source_type: 'builtin',
  enabled: true,
  definition: null,
  managed_by: null,
  created_at: 1,
  updated_at: 1,
});

test('[POL-5] many changes at once are each in force when their own reload has ended, without being read one by one', async () => {
  await using database = await openDatabase({ file: ':memory:' });
  const store = createStore(database);
  const inventory = await openInventory({ store, warn: (message) => expect.unreachable(message) });
  let changes = 0;
  inventory.onChange(() => changes++);
  const change = async (index: number) => {
    const made = {
      kind: 'source-created',
      topic: 'source',
      subject: `source-${index}`,
      actor: 'system',
      before: null,
      after: null,
    } as const;
    await store.change(made, (tx) => tx.sources.upsert(source(index)));
    await inventory.reload(new Set(['source']));
    return inventory.sources.has(`source-${index}`);
  };
  const seen = await Promise.all(Array.from({ length: 40 }, (_, index) => change(index)));
  expect(seen).not.toContain(false);
  expect(changes).toBeLessThan(40);
});
