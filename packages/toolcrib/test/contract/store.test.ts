import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { describeStore } from './store-dialects.ts';
import { sampleGroup, samplePolicy, sampleSource, sampleTool, someTime } from './store-samples.ts';

describeStore('the store of administrators', ({ open }) => {
  let database: Database;
  let store: Store;
  beforeAll(async () => {
    database = await open();
    store = createStore(database);
  });
  afterAll(() => database?.close());

  test('holds sources, which can be changed and deleted with their tools', async () => {
    const source = sampleSource();
    await store.sources.upsert(source);
    expect(await store.sources.get(source.id)).toEqual(source);
    const registration = { mcp_server_url: 'https://x.example/mcp', headers: { 'X-Team': '***' } };
    const changed = { ...source, name: 'Other', enabled: false, registration, updated_at: someTime + 1, created_at: 5 };
    await store.sources.upsert(changed);
    expect(await store.sources.get(source.id)).toEqual({ ...changed, created_at: source.created_at });
    expect(await store.sources.list()).toHaveLength(1);

    await store.tools.upsertMany([sampleTool(source.id, 'one')]);
    expect(await store.sources.delete(source.id)).toBe(true);
    expect(await store.sources.delete(source.id)).toBe(false);
    expect(await store.sources.get(source.id)).toBeUndefined();
    expect(await store.tools.listBySource(source.id)).toEqual([]);
  });

  test('[NAME-2] reports a namespace that another source has as a conflict that names the field', async () => {
    const source = sampleSource();
    await store.sources.upsert(source);
    const second = store.sources.upsert(sampleSource({ namespace: source.namespace }));
    await expect(second).rejects.toMatchObject({
      name: 'CribError',
      code: 'CONFLICT',
      field: 'namespace',
      message: expect.stringContaining('source'),
    });
  });

  test('returns tools as they were found', async () => {
    const source = sampleSource();
    await store.sources.upsert(source);
    const tools = [
      sampleTool(source.id, 'a', { overrides: { labels: { risk: 'low' }, limits: { concurrency: 2 } } }),
      sampleTool(source.id, 'b\0\uD800'),
    ];
    await store.tools.upsertMany(tools);
    expect(await store.tools.listBySource(source.id)).toEqual(tools);
    expect(await store.tools.get(tools[1]!.tool_id)).toEqual(tools[1]);
    expect(await store.tools.list()).toEqual(expect.arrayContaining(tools));
    expect(await store.tools.get('tool_unknown')).toBeUndefined();
  });

  test('[INV-3] holds the approved definition beside the found one until both are the same again', async () => {
    const source = sampleSource();
    await store.sources.upsert(source);
    const tool = sampleTool(source.id, 'a');
    const approved = { ...tool.discovered.definition, description: 'As it was\0' };
    const waiting = { ...tool, state: 'quarantined' as const, approved_hash: 'hash-0', approved };
    await store.tools.upsertMany([tool]);
    await store.tools.upsertMany([waiting]);
    expect(await store.tools.get(tool.tool_id)).toEqual(waiting);
    await store.tools.upsertMany([{ ...tool, state: 'pending', approved_hash: null, approved: null }]);
    expect(await store.tools.get(tool.tool_id)).toMatchObject({ state: 'pending', approved_hash: null, approved: null });
  });

  test('[INV-5] keeps overrides over a refresh, and the id of a known tool', async () => {
    const source = sampleSource();
    await store.sources.upsert(source);
    const tool = sampleTool(source.id, 'a');
    await store.tools.upsertMany([tool]);
    expect(await store.tools.setOverrides(tool.tool_id, { hidden: true }, someTime + 1)).toBe(true);
    expect(await store.tools.setOverrides('tool_unknown', {}, someTime)).toBe(false);
    const found = sampleTool(source.id, 'a', { definition_hash: 'hash-2', state: 'quarantined', created_at: 1, updated_at: someTime + 2 });
    const [stored] = await store.tools.upsertMany([found]);
    expect(stored).toEqual({ ...found, tool_id: tool.tool_id, created_at: someTime, overrides: { hidden: true } });
    expect(await store.tools.listBySource(source.id)).toEqual([stored]);
    expect(await store.tools.setState(tool.tool_id, 'active', someTime + 3)).toBe(true);
    expect(await store.tools.get(tool.tool_id)).toMatchObject({ state: 'active', updated_at: someTime + 3 });
  });

  test('stores a discovery of more tools than fit one statement', async () => {
    const source = sampleSource();
    await store.sources.upsert(source);
    const tools = Array.from({ length: 1201 }, (_, index) => sampleTool(source.id, `tool-${index}`));
    expect(await store.tools.upsertMany(tools)).toHaveLength(1201);
    expect(await store.tools.listBySource(source.id)).toHaveLength(1201);
    expect(await store.tools.upsertMany([])).toEqual([]);
  });

  test('refuses two tools with one name, and tools of no source, and stores none of them', async () => {
    const source = sampleSource();
    await store.sources.upsert(source);
    const twins = store.tools.upsertMany([sampleTool(source.id, 'a'), sampleTool(source.id, 'a')]);
    await expect(twins).rejects.toMatchObject({ code: 'CONFLICT' });
    const orphans = store.tools.upsertMany([sampleTool(source.id, 'b'), sampleTool('gone', 'b')]);
    await expect(orphans).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('source') });
    expect(await store.tools.listBySource(source.id)).toEqual([]);
  });

  test('holds groups, which can be changed and deleted', async () => {
    const group = sampleGroup();
    await store.groups.insert(group);
    await expect(store.groups.insert(group)).rejects.toMatchObject({ code: 'CONFLICT', field: 'id' });
    expect(await store.groups.get(group.id)).toEqual(group);
    const changed = { ...group, selectors: [], include: [], exclude: ['x:y'], updated_at: someTime + 1 };
    expect(await store.groups.update(changed)).toBe(true);
    expect(await store.groups.list()).toEqual([changed]);
    expect(await store.groups.update(sampleGroup())).toBe(false);
    expect(await store.groups.delete(group.id)).toBe(true);
    expect(await store.groups.delete(group.id)).toBe(false);
    expect(await store.groups.get(group.id)).toBeUndefined();
  });

  test('holds policies, which can be changed and deleted, with the types of their values', async () => {
    const policy = samplePolicy();
    await store.policies.insert(policy);
    await expect(store.policies.insert(policy)).rejects.toMatchObject({ code: 'CONFLICT', field: 'id' });
    expect(await store.policies.get(policy.id)).toEqual(policy);
    const changed = { ...policy, enabled: false, matchers: [], updated_at: someTime + 1 };
    expect(await store.policies.update(changed)).toBe(true);
    expect(await store.policies.list()).toEqual([changed]);
    expect(await store.policies.update(samplePolicy())).toBe(false);
    expect(await store.policies.delete(policy.id)).toBe(true);
    expect(await store.policies.delete(policy.id)).toBe(false);
  });

  test('does not read a policy that was tampered with in the database', async () => {
    const policy = samplePolicy();
    await store.policies.insert(policy);
    for (const matchers of ['[{"path":"sub","operator":"anything"}]', 'not json']) {
      await database.kysely.updateTable('policies').set({ matchers }).where('id', '=', policy.id).execute();
      const reading = store.policies.list();
      await expect(reading).rejects.toMatchObject({ code: 'INTERNAL', message: expect.stringContaining(policy.id) });
    }
    await store.policies.delete(policy.id);
  });

  test('stores text without characters that no database accepts, and a search for them finds nothing else', async () => {
    const group = sampleGroup({ description: 'a\0b\uD800', include: ['x:\0'] });
    await store.groups.insert(group);
    expect(await store.groups.get(group.id)).toEqual({ ...group, description: 'a\uFFFDb\uFFFD' });
    expect(await store.groups.get(`${group.id}\0`)).toBeUndefined();
    await store.groups.delete(group.id);
  });

  test('holds secrets, which can be replaced and deleted, each under one name', async () => {
    const secret = { id: 's-1', name: 'token', sealed: 'sealed text', created_at: someTime, updated_at: someTime };
    await store.secrets.put(secret);
    const replaced = { ...secret, sealed: 'other', updated_at: someTime + 1 };
    await store.secrets.put({ ...replaced, created_at: 1 });
    expect(await store.secrets.get('s-1')).toEqual(replaced);
    await expect(store.secrets.put({ ...secret, id: 's-2' })).rejects.toMatchObject({ code: 'CONFLICT', field: 'name' });
    expect(await store.secrets.list()).toEqual([replaced]);
    expect(await store.secrets.delete('s-1')).toBe(true);
    expect(await store.secrets.delete('s-1')).toBe(false);
  });
});
