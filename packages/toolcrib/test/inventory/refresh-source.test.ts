import { afterEach, beforeEach, expect, test } from 'vitest';
import { openCounter, type Counter } from '../../src/inventory/counter.ts';
import { refreshSource } from '../../src/inventory/refresh-source.ts';
import type { SourceRecord } from '../../src/model/source.ts';
import type { DiscoveredTool } from '../../src/model/tool.ts';
import type { Database } from '../../src/store/database.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { createStore, type Store } from '../../src/store/store.ts';

const source: SourceRecord = {
  id: '11111111-1111-4111-8111-111111111111',
  name: 'Files',
  namespace: 'files',
  source_type: 'builtin',
  enabled: true,
  definition: null,
  created_at: 1,
  updated_at: 1,
};

let database: Database;
let store: Store;
let counter: Counter;

beforeEach(async () => {
  database = await openDatabase({ file: ':memory:' });
  store = createStore(database);
  await store.sources.upsert(source);
  counter = await openCounter({ store, warn: (message) => expect.unreachable(message) });
});

afterEach(() => database.close());

function found(name: string, description = `${name} does something`): DiscoveredTool {
  return { definition: { name, description, input_schema: { type: 'object' } }, tags: [], execution_mode: 'builtin' };
}

async function refresh(...discovered: DiscoveredTool[]) {
  const difference = await refreshSource({ store, source, discovered, actor: 'system', now: Date.now() });
  await counter.reload(new Set(['tool']));
  return difference;
}

const stateOf = (name: string) => counter.snapshot.find(`files:${name}`)?.state;

test('[INV-1] what a discovery finds is listed from memory, without asking the source again', async () => {
  expect(await refresh(found('read'), found('write'))).toEqual({ added: ['read', 'write'], changed: [], removed: [] });
  expect(counter.snapshot.tools.map(({ name }) => name)).toEqual(['files:read', 'files:write']);
});

test('[INV-2] an unchanged discovery changes nothing, not even the revision', async () => {
  await refresh(found('read'));
  const revision = await store.events.lastId();
  const before = counter.snapshot.find('files:read');
  expect(await refresh(found('read'))).toEqual({ added: [], changed: [], removed: [] });
  expect(await store.events.lastId()).toBe(revision);
  expect(counter.snapshot.find('files:read')).toBe(before);
});

test('[INV-2] a vanished tool is deprecated, and comes back under its old id when it comes back', async () => {
  await refresh(found('read'), found('write'));
  const id = counter.snapshot.find('files:write')?.tool_id;
  expect(await refresh(found('read'))).toEqual({ added: [], changed: [], removed: ['write'] });
  expect(stateOf('write')).toBe('deprecated');
  expect(await refresh(found('read'), found('write'))).toEqual({ added: ['write'], changed: [], removed: [] });
  expect(stateOf('write')).toBe('active');
  expect(counter.snapshot.find('files:write')?.tool_id).toBe(id);
});

test('[INV-5] overrides survive a changed definition', async () => {
  await refresh(found('read'));
  const id = counter.snapshot.find('files:read')?.tool_id ?? '';
  await store.tools.setOverrides(id, { description: 'Ours', labels: { team: 'a' } }, Date.now());
  expect(await refresh(found('read', 'Something else now'))).toEqual({ added: [], changed: ['read'], removed: [] });
  expect(counter.snapshot.find(id)).toMatchObject({ description: 'Ours', labels: { team: 'a' } });
});

test('[NAME-3] two tools that a model could not tell apart are refused, and the inventory stays as it was', async () => {
  await refresh(found('read'));
  await expect(refresh(found('write'), found('write'))).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(counter.snapshot.tools.map(({ name }) => name)).toEqual(['files:read']);
});

test('a search sees a tool as soon as the tool is there', async () => {
  await refresh(found('read'));
  const tool = counter.snapshot.find('files:read');
  const access = {
    permissions: new Map([[tool?.tool_id ?? '', { tool: tool!, policies: 'p' }]]),
    tools: [tool!],
    fingerprint: '',
    revision: 0,
  };
  expect(counter.search(access, 'read something').map(({ name }) => name)).toEqual(['files:read']);
});
