import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { beforeAll, afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { KeyRing } from '../../src/secrets/key-ring.ts';
import { kidOf } from '../../src/secrets/seal.ts';
import { createSecretStore, type SecretStore } from '../../src/secrets/secret-store.ts';
import type { Database } from '../../src/store/database.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { describeStore } from '../contract/store-dialects.ts';
import { sampleKeyRing, writtenKey } from './key-rings.ts';

describeStore('secrets', ({ open }) => {
  let database: Database;
  let store: Store;
  let keyRing: KeyRing;
  let secrets: SecretStore;
  beforeAll(async () => {
    database = await open();
    store = createStore(database);
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.kysely.deleteFrom('secrets').execute();
    keyRing = sampleKeyRing('k1');
    secrets = createSecretStore({ store, keyRing });
  });
  const reveal = async (name: string, from = secrets) => (await from.get(name))?.reveal();
  const lastEvents = async (limit: number) =>
    (await store.events.list({ limit })).map(({ kind, subject, actor, before, after }) => ({ kind, subject, actor, before, after }));

  test('[SEC-3] a secret can be stored, read, replaced and deleted', async () => {
    expect(await secrets.get('token')).toBeUndefined();
    const { secret, created } = await secrets.put('token', 'hunter2');
    expect({ created, name: secret.name }).toEqual({ created: true, name: 'token' });
    expect(await reveal('token')).toBe('hunter2');
    expect(await secrets.put('token', 'hunter3')).toMatchObject({ created: false, secret: { created_at: secret.created_at } });
    expect(await reveal('token')).toBe('hunter3');
    await secrets.delete('token');
    expect(await secrets.get('token')).toBeUndefined();
    await expect(secrets.delete('token')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('[ENV-4] the list has only names and dates, in order', async () => {
    await secrets.put('b', 'hunter2');
    await secrets.put('a', 'hunter2');
    expect(await secrets.list()).toEqual(
      ['a', 'b'].map((name) => ({ name, created_at: expect.any(Number), updated_at: expect.any(Number) })),
    );
  });

  test('[ENV-4] changes are recorded without values', async () => {
    await secrets.put('token', 'hunter2', { actor: 'ada' });
    await secrets.put('token', 'hunter3', { actor: 'ada' });
    await secrets.delete('token', { actor: 'bea' });
    expect(await lastEvents(3)).toEqual([
      { kind: 'secret-deleted', subject: 'token', actor: 'bea', before: '***', after: null },
      { kind: 'secret-set', subject: 'token', actor: 'ada', before: '***', after: '***' },
      { kind: 'secret-set', subject: 'token', actor: 'ada', before: null, after: '***' },
    ]);
  });

  test('[ENV-4] *** keeps the stored value and records nothing', async () => {
    await secrets.put('token', 'hunter2');
    const before = await store.events.lastId();
    expect(await secrets.put('token', '***')).toMatchObject({ created: false, secret: { name: 'token' } });
    expect(await reveal('token')).toBe('hunter2');
    await expect(secrets.put('other', '***')).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'value' });
    expect(await store.events.lastId()).toBe(before);
  });

  test.each(['', '.', '..', '.hidden', 'a b', 'a/b', 'ä', 'x'.repeat(201), 'a\n'])('[SEC-3] a secret cannot be named %j', async (name) => {
    await expect(secrets.put(name, 'hunter2')).rejects.toMatchObject({ code: 'VALIDATION_ERROR', field: 'name' });
  });

  test.each([
    ['nothing', ''],
    ['too much', 'hunter2'.repeat(10_000)],
    ['half a surrogate pair', 'hunter2\ud800'],
  ])('[SEC-3] a secret cannot have %s as its value, and the refusal does not repeat it', async (_what, value) => {
    const error: unknown = await secrets.put('token', value).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', field: 'value' });
    expect(inspect(error)).not.toContain('hunter2');
    expect(await secrets.list()).toEqual([]);
  });

  test('[SEC-3] the value is never in the database', async () => {
    await secrets.put('token', 'hunter2-canary');
    const [row] = await store.secrets.list();
    expect(JSON.stringify(row)).not.toContain('canary');
    expect(row?.sealed).toMatch(/^v1\.k1\./);
  });

  test('[SEC-3] values that were swapped in the database open under neither name', async () => {
    await secrets.put('a', 'hunter-a');
    await secrets.put('b', 'hunter-b');
    const [a, b] = await store.secrets.list();
    if (a === undefined || b === undefined) throw new Error('They were put');
    await store.secrets.put({ ...a, sealed: b.sealed });
    await store.secrets.put({ ...b, name: 'b-renamed' });
    secrets.forget();
    await expect(secrets.get('a')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/^The secret a does not open/),
    });
    await expect(secrets.get('b-renamed')).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('[SEC-3] an opened value is kept in memory until the store is told to forget it', async () => {
    await secrets.put('token', 'hunter2');
    expect(await reveal('token')).toBe('hunter2');
    const other = createSecretStore({ store, keyRing });
    await other.put('token', 'hunter3');
    expect(await reveal('token')).toBe('hunter2');
    secrets.forget();
    expect(await reveal('token')).toBe('hunter3');
  });

  test('[SEC-3] a value that changes while it is read is not kept', async () => {
    await secrets.put('token', 'hunter2');
    const reading = secrets.get('token');
    await secrets.put('token', 'hunter3');
    await reading;
    expect(await reveal('token')).toBe('hunter3');
  });

  test('[SEC-3] secrets of a source are written and deleted within the change of the source', async () => {
    const id = randomUUID();
    const change = { kind: 'source-created', topic: 'source', subject: id, actor: 'test', before: null, after: null } as const;
    await secrets.put('shared', 'hunter2');
    const failed = store.change(change, async (tx) => {
      await secrets.within(tx).put(`mcp_${id}.TOKEN`, 'hunter3');
      throw new Error('refused');
    });
    await expect(failed).rejects.toThrow('refused');
    expect(await reveal(`mcp_${id}.TOKEN`)).toBeUndefined();

    await store.change(change, (tx) => secrets.within(tx).put(`mcp_${id}.TOKEN`, 'hunter3'));
    secrets.forget();
    expect(await reveal(`mcp_${id}.TOKEN`)).toBe('hunter3');
    await store.change(change, (tx) => secrets.within(tx).deleteOf(id));
    expect((await secrets.list()).map(({ name }) => name)).toEqual(['shared']);
  });

  describe('[SEC-3] rekeying', () => {
    const old = writtenKey('old');
    let rotated: KeyRing;
    beforeEach(async () => {
      const before = createSecretStore({ store, keyRing: sampleKeyRing(old) });
      await before.put('a', 'hunter-a');
      await before.put('b', 'hunter-b');
      rotated = sampleKeyRing('new', old);
      secrets = createSecretStore({ store, keyRing: rotated });
      await secrets.put('c', 'hunter-c');
    });
    const kids = async () => (await store.secrets.list()).map(({ sealed }) => kidOf(sealed));

    test('seals everything with the newest key, and does nothing when repeated', async () => {
      const dates = await secrets.list();
      expect(await kids()).toEqual(['old', 'old', 'new']);
      expect(await secrets.rekey({ actor: 'ada' })).toEqual({ total: 3, rewritten: 2, deleted: [] });
      expect(await kids()).toEqual(['new', 'new', 'new']);
      expect(await lastEvents(1)).toEqual([
        { kind: 'secrets-rekeyed', subject: 'new', actor: 'ada', before: null, after: { total: 3, rewritten: 2, deleted: [] } },
      ]);
      const last = await store.events.lastId();
      expect(await secrets.rekey()).toEqual({ total: 3, rewritten: 0, deleted: [] });
      expect(await store.events.lastId()).toBe(last);
      expect(await secrets.list()).toEqual(dates);
      expect([await reveal('a'), await reveal('b'), await reveal('c')]).toEqual(['hunter-a', 'hunter-b', 'hunter-c']);
    });

    test('changes nothing if a secret does not open, unless it is told to delete it', async () => {
      const [a] = await store.secrets.list();
      if (a === undefined) throw new Error('It was put');
      await store.secrets.put({ ...a, sealed: a.sealed.replace('v1.old.', 'v1.lost.') });
      await expect(secrets.rekey()).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringMatching(/1 of the secrets do not open .*: a\. Nothing was changed/),
      });
      expect(await kids()).toEqual(['lost', 'old', 'new']);
      expect(await secrets.rekey({ deleteUnreadable: true })).toEqual({ total: 3, rewritten: 1, deleted: ['a'] });
      expect(await kids()).toEqual(['new', 'new']);
    });
  });

  describe('[SEC-3] a server with other keys', () => {
    const warnings: string[] = [];
    const warn = (message: string) => warnings.push(message);
    beforeEach(() => warnings.splice(0));

    test('is refused at the start, with what to do', async () => {
      await secrets.put('token', 'hunter2');
      const stranger = createSecretStore({ store, keyRing: sampleKeyRing('k9') });
      await expect(stranger.verify({ warn })).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringMatching(/sealed with a key this server does not have \(k1\).*has k9.*same keys in TOOLCRIB_KEYS/),
      });
      await secrets.verify({ warn });
      expect(warnings).toEqual([]);
    });

    test('is refused even if its key has the same id', async () => {
      await secrets.put('token', 'hunter2');
      const stranger = createSecretStore({ store, keyRing: sampleKeyRing('k1') });
      await expect(stranger.verify({ warn })).rejects.toMatchObject({ code: 'CONFLICT' });
      await expect(stranger.put('token', 'hunter3')).rejects.toMatchObject({ code: 'CONFLICT' });
    });

    test('overwrites nothing and adds nothing', async () => {
      await secrets.put('token', 'hunter2');
      const stranger = createSecretStore({ store, keyRing: sampleKeyRing('k9') });
      for (const name of ['token', 'another']) await expect(stranger.put(name, 'hunter3')).rejects.toMatchObject({ code: 'CONFLICT' });
      await expect(stranger.get('token')).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('k1') });
      await expect(stranger.rekey()).rejects.toMatchObject({ code: 'CONFLICT' });
      expect(await reveal('token')).toBe('hunter2');
      expect(await secrets.list()).toHaveLength(1);
    });

    test('is not suspected because a single secret is damaged', async () => {
      await secrets.put('whole', 'hunter2');
      await secrets.put('damaged', 'hunter2');
      const [damaged] = await store.secrets.list();
      if (damaged === undefined) throw new Error('It was put');
      await store.secrets.put({ ...damaged, sealed: 'v1.k1.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA.AAAA' });
      secrets.forget();
      await secrets.verify({ warn });
      expect(warnings).toEqual([expect.stringContaining('The secret damaged does not open')]);
      expect(await reveal('whole')).toBe('hunter2');
      await expect(secrets.put('damaged', 'hunter3')).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining('delete it'),
      });
      await secrets.delete('damaged');
      await secrets.put('damaged', 'hunter3');
      expect(await reveal('damaged')).toBe('hunter3');
    });
  });
});
