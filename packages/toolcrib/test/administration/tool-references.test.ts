import { afterEach, beforeEach, expect, test } from 'vitest';
import { resolveToolReferences } from '../../src/administration/tool-references.ts';
import { toolId } from '../../src/inventory/tool-id.ts';
import type { Database } from '../../src/store/database.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { sampleTool } from '../contract/store-samples.ts';

const sourceId = '11111111-1111-4111-8111-111111111111';
let database: Database;
let store: Store;

beforeEach(async () => {
  database = await openDatabase({ file: ':memory:' });
  store = createStore(database);
  const stored = { enabled: true, definition: null, managed_by: null, created_at: 1, updated_at: 1 };
  await store.sources.upsert({ id: sourceId, name: 'Files', namespace: 'files', source_type: 'builtin', ...stored });
});

afterEach(() => database.close());

const resolve = (...references: string[]) => resolveToolReferences(store, references, 'include');

test('[NAME-1] a tool is named by id, canonical or dotted name, and always kept as its id', async () => {
  const id = toolId(sourceId, 'a.b:c');
  expect(await resolve(id)).toEqual([id]);
  expect(await resolve('files:a.b:c')).toEqual([id]);
  expect(await resolve('files.a.b:c', 'files:a.b:c', id)).toEqual([id]);
});

test('[INV-5] [NAME-4] a name that an administrator gave to a tool means that tool', async () => {
  const record = sampleTool(sourceId, 'read', { tool_id: toolId(sourceId, 'read'), overrides: { rename: 'write' } });
  await store.tools.upsertMany([record]);
  expect(await resolve('files:write')).toEqual([record.tool_id]);
  expect(await resolve('files:read')).toEqual([record.tool_id]);
});

test.each(['files', 'files:', 'other:read', ':read', '*', 'tool_123', ''])('[NAME-4] %j names no tool', async (reference) => {
  await expect(resolve('files:read', reference)).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'include.1' });
});
