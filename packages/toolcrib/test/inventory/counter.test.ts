import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openInventory, type Inventory } from '../../src/inventory/inventory.ts';
import { refreshSource } from '../../src/inventory/refresh-source.ts';
import type { SourceRecord } from '../../src/model/source.ts';
import type { Database } from '../../src/store/database.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { createStore, type Store, type StoreNouns } from '../../src/store/store.ts';

const sources = ['files', 'mail', 'wiki'].map((namespace): SourceRecord => ({
  id: `id-${namespace}`,
  name: namespace,
  namespace,
  source_type: 'builtin',
  enabled: true,
  definition: null,
  managed_by: null,
  created_at: 1,
  updated_at: 1,
}));
const [files, mail] = sources as [SourceRecord, SourceRecord, SourceRecord];

let database: Database;
let store: Store;
let inventory: Inventory;
/** The reads of tools, in order: `*` for all of them, else the source or the tool. */
let reads: string[];

beforeEach(async () => {
  database = await openDatabase({ file: ':memory:' });
  const real = createStore(database);
  const watched = (nouns: StoreNouns): StoreNouns => ({
    ...nouns,
    tools: {
      ...nouns.tools,
      pages: (id) => (reads.push(id ?? '*'), nouns.tools.pages(id)),
      getStored: (id) => (reads.push(id), nouns.tools.getStored(id)),
    },
  });
  store = real;
  for (const source of sources) {
    await saveSource(source);
    await refresh(source, 'a', 'b');
  }
  reads = [];
  inventory = await openInventory({
    store: { ...real, snapshot: (read) => real.snapshot((nouns) => read(watched(nouns))) },
    warn: (message) => expect.unreachable(message),
  });
  reads = [];
});

afterEach(() => database.close());

function saveSource(source: SourceRecord) {
  const change = { kind: 'source-changed', topic: 'source', subject: source.id, actor: 'system', before: null, after: null } as const;
  return store.change(change, (tx) => tx.sources.upsert(source));
}

async function refresh(source: SourceRecord, ...names: string[]) {
  const discovered = names.map((name) => ({
    definition: { name, description: name, input_schema: { type: 'object' } },
    tags: [],
    execution_mode: 'builtin' as const,
  }));
  await refreshSource({ store, source, discovered, actor: 'system', now: Date.now() });
}

const names = () => inventory.snapshot.tools.filter(({ state }) => state === 'active').map(({ name }) => name);

describe('a reload', () => {
  test('after a discovery reads the tools of that source only, and keeps all others as they are', async () => {
    const before = inventory.find('mail:a');
    await refresh(files, 'a', 'b', 'c');
    await inventory.reload(new Set(['tool']));
    expect(reads).toEqual([files.id]);
    expect(names()).toEqual(['files:a', 'files:b', 'files:c', 'mail:a', 'mail:b', 'wiki:a', 'wiki:b']);
    expect(inventory.find('mail:a')).toBe(before);
  });

  test('after several discoveries at once reads each source once, however often it is requested', async () => {
    await Promise.all(sources.map((source) => refresh(source, 'a')));
    await Promise.all(sources.map(() => inventory.reload(new Set(['tool']))));
    expect(reads.toSorted()).toEqual(sources.map(({ id }) => id));
    expect(names()).toEqual(['files:a', 'mail:a', 'wiki:a']);
  });

  test('after a change of one tool reads that tool only', async () => {
    const id = inventory.find('files:a')?.tool_id ?? '';
    const change = { kind: 'tool-overridden', topic: 'tool', subject: id, actor: 'system', before: null, after: null } as const;
    await store.change(change, (tx) => tx.tools.setOverrides(id, { rename: 'z' }, 5));
    await inventory.reload(new Set(['tool']));
    expect(reads).toEqual([id]);
    expect(names()).toEqual(['files:b', 'files:z', 'mail:a', 'mail:b', 'wiki:a', 'wiki:b']);
  });

  test('of the rules alone sees tools that were changed before them, so that both are of one moment', async () => {
    await refresh(files, 'a');
    const change = { kind: 'group-created', topic: 'group', subject: 'g', actor: 'system', before: null, after: null } as const;
    await store.change(change, async () => undefined);
    await inventory.reload(new Set(['group']));
    expect(names()).toEqual(['files:a', 'mail:a', 'mail:b', 'wiki:a', 'wiki:b']);
    reads = [];
    await inventory.reload(new Set(['tool']));
    expect(reads).toEqual([]);
  });

  test('without news notifies nobody', async () => {
    let told = 0;
    inventory.onChange(() => told++);
    await inventory.reload(new Set(['source', 'tool', 'group', 'policy']));
    expect(told).toBe(0);
  });

  test('removes the tools of a deleted or disabled source, and renames those of a renamed one', async () => {
    const change = { kind: 'source-deleted', topic: 'source', subject: files.id, actor: 'system', before: null, after: null } as const;
    await store.change(change, (tx) => tx.sources.delete(files.id));
    await saveSource({ ...mail, enabled: false });
    await saveSource({ ...sources[2]!, namespace: 'encyclopedia' });
    await inventory.reload(new Set(['source']));
    expect(names()).toEqual(['encyclopedia:a', 'encyclopedia:b']);
    await saveSource(mail);
    await inventory.reload(new Set(['source']));
    expect(names()).toEqual(['encyclopedia:a', 'encyclopedia:b', 'mail:a', 'mail:b']);
  });

  test.each([
    ['there are too many changes to look at one by one', 150],
    ['a change is about something unknown', 1],
  ])('reads everything if %s', async (_why, count) => {
    for (let index = 0; index < count; index++) {
      const change = { kind: 'x', topic: 'tool', subject: `unknown-${index}`, actor: 'system', before: null, after: null } as const;
      await store.change(change, async () => undefined);
    }
    await inventory.reload(new Set(['tool']));
    expect(reads.at(-1)).toBe('*');
  });

  test('reads everything if the database was reset to an earlier state', async () => {
    await database.kysely.deleteFrom('events').where('id', '>', 2).execute();
    await database.kysely.deleteFrom('tools').where('source_id', '=', mail.id).execute();
    await inventory.reload(new Set(['tool']));
    expect(names()).toEqual(['files:a', 'files:b', 'wiki:a', 'wiki:b']);
  });
});
