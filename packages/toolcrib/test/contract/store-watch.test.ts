import { EventEmitter, once } from 'node:events';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ChangeTopic } from '../../src/model/event.ts';
import type { Database } from '../../src/store/database.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { watchChanges } from '../../src/store/watch-changes.ts';
import { cuttableProxy } from '../fixtures/cuttable-proxy.ts';
import { freshPostgresDatabase, part, type FreshDatabase } from '../parts.ts';
import { describeStore } from './store-dialects.ts';
import { sampleChange, samplePolicy } from './store-samples.ts';

interface Watched extends EventEmitter<{ change: [Set<ChangeTopic>, number]; signal: [string, unknown]; warning: [string] }> {}

async function watch(database: Database, pollIntervalMs?: number): Promise<{ seen: Watched } & AsyncDisposable> {
  const seen: Watched = new EventEmitter();
  const watching = await watchChanges({
    database,
    pollIntervalMs,
    onChange: (topics, lastId) => void seen.emit('change', topics, lastId),
    onSignal: (name, payload) => void seen.emit('signal', name, payload),
    warn: (message) => void seen.emit('warning', message),
  });
  return { seen, [Symbol.asyncDispose]: () => watching[Symbol.asyncDispose]() };
}

/** Resolves when a change up to `lastId` was reported; with all topics that were reported until then. */
async function reported(seen: Watched, lastId: () => number): Promise<Set<ChangeTopic>> {
  const { promise, resolve } = Promise.withResolvers<Set<ChangeTopic>>();
  const all = new Set<ChangeTopic>();
  seen.on('change', (topics, id) => {
    for (const topic of topics) all.add(topic);
    if (id >= lastId()) resolve(all);
  });
  return promise;
}

describeStore('watching, signals and closing', ({ open }) => {
  test('work on either database', async () => {
    await using database = await open();
    await using watching = await watch(database);
    expect(watching.seen).toBeDefined();
    await createStore(database).signal('cancel', { call_id: 'x' });
  });
});

const postgres = part('postgres');
describe.skipIf(!postgres.available)('two servers on one PostgreSQL', () => {
  let fresh: FreshDatabase;
  let here: Database;
  let there: Database;
  let store: Store;
  let remote: Store;
  beforeAll(async () => {
    fresh = await freshPostgresDatabase();
    [here, there] = await Promise.all([openDatabase({ url: fresh.url }), openDatabase({ url: fresh.url })]);
    store = createStore(here);
    remote = createStore(there);
  });
  afterAll(async () => {
    await here?.close();
    await there?.close();
    await fresh?.[Symbol.asyncDispose]();
  });

  test('[OPS-2] hear of each other’s changes by notification, and can read them', async () => {
    // The poll never comes: what arrives came through the notification.
    await using watching = await watch(here, 3_600_000);
    const told = once(watching.seen, 'change');
    const policy = samplePolicy();
    const event = await remote.change(sampleChange(), (tx) => tx.policies.insert(policy));
    expect(await told).toEqual([new Set(['policy']), event.id]);
    expect(await store.policies.get(policy.id)).toEqual(policy);
  });

  test('hear of several topics, and not of a change that was rolled back', async () => {
    await using watching = await watch(here);
    let last = Infinity;
    const told = reported(watching.seen, () => last);
    const failing = remote.change(sampleChange({ topic: 'secret' }), async () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await remote.change(sampleChange({ topic: 'group' }), async () => {});
    await store.change(sampleChange({ topic: 'source' }), async () => {});
    last = (await remote.change(sampleChange({ topic: 'tool' }), async () => {})).id;
    await remote.change(sampleChange({ topic: 'tool' }), async () => {});
    expect(await told).toEqual(new Set(['group', 'source', 'tool']));
  });

  test('both get a signal, which leaves no event', async () => {
    await using one = await watch(here);
    await using two = await watch(there);
    const before = await store.events.lastId();
    const heard = Promise.all([once(one.seen, 'signal'), once(two.seen, 'signal')]);
    // Foreign messages on the channel are ignored.
    await sql`select pg_notify('toolcrib_signals', 'noise'), pg_notify('toolcrib_signals', '{"name":1}')`.execute(here.kysely);
    await remote.signal('cancel', { call_id: 'a\0b' });
    expect(await heard).toEqual([
      ['cancel', { call_id: 'a\0b' }],
      ['cancel', { call_id: 'a\0b' }],
    ]);
    expect(await store.events.lastId()).toBe(before);
    await expect(remote.signal('cancel', 'x'.repeat(9000))).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  test('[OPS-2] hear of changes after the listening connection was cut, and of signals again', async () => {
    await using watching = await watch(here);
    const warned = once(watching.seen, 'warning');
    const { rows } = await sql<{ ended: boolean }>`select pg_terminate_backend(pid) as ended from pg_stat_activity
      where application_name = 'toolcrib-listen' and datname = current_database()`.execute(there.kysely);
    expect(rows).toEqual([{ ended: true }]);
    const told = once(watching.seen, 'change');
    const event = await remote.change(sampleChange({ topic: 'group' }), async () => {});
    expect(await told).toEqual([new Set(['group']), event.id]);
    expect(await warned).toEqual([expect.stringContaining('is lost')]);
    const heard = once(watching.seen, 'signal');
    // Until the connection is open again signals go nowhere, so this one is sent until it is heard.
    while ((await Promise.race([heard.then(() => 'heard'), remote.signal('again', null).then(() => 'sent')])) === 'sent');
    expect(await heard).toEqual(['again', null]);
  });

  test('find changes by polling where there are no notifications', async () => {
    await using watching = await watch(here, 20);
    const told = once(watching.seen, 'change');
    // Written as a server would whose notification was lost.
    await sql`insert into events (at, kind, topic, subject, actor, before, after) values (1, 'k', 'secret', 's', 'a', 'null', 'null')`.execute(
      there.kysely,
    );
    expect((await told)[0]).toEqual(new Set(['secret']));
  });

  test('take a database that was reset to an earlier state as a change of everything', async () => {
    await using watching = await watch(here, 20);
    const told = once(watching.seen, 'change');
    await sql`delete from events`.execute(there.kysely);
    expect(await told).toEqual([new Set(['source', 'tool', 'group', 'policy', 'secret', 'connection', 'call', 'login']), 0]);
  });

  test('[POL-5] are told of a change until they have taken it over, with one warning', async () => {
    const told: [Set<ChangeTopic>, number][] = [];
    const warnings: string[] = [];
    const { promise: takenOver, resolve } = Promise.withResolvers<void>();
    await using _watching = await watchChanges({
      database: here,
      pollIntervalMs: 20,
      async onChange(topics, lastId) {
        told.push([topics, lastId]);
        if (told.length < 3) throw new Error('cannot read it now');
      },
      warn(message) {
        warnings.push(message);
        if (message.includes('seen again')) resolve();
      },
    });
    const { id } = await remote.change(sampleChange({ topic: 'group' }), async () => {});
    await takenOver;
    expect(told).toEqual(Array.from({ length: 3 }, () => [new Set(['group']), id]));
    expect(warnings).toEqual([expect.stringContaining('cannot read it now'), expect.stringContaining('seen again')]);
  });

  test('warn of a signal whose listener throws, and hear the next one', async () => {
    const heard = new EventEmitter<{ warning: [string] }>();
    await using _watching = await watchChanges({
      database: here,
      onChange() {},
      onSignal(name) {
        throw new Error(`broken by ${name}`);
      },
      warn: (message) => void heard.emit('warning', message),
    });
    for (const name of ['one', 'two']) {
      const warned = once(heard, 'warning');
      await remote.signal(name, null);
      expect(await warned).toEqual([expect.stringContaining(`broken by ${name}`)]);
    }
  });

  test('[OPS-2] survive the loss of the database, and hear afterwards what changed', async () => {
    await using proxy = await cuttableProxy(fresh.url);
    await using database = await openDatabase({ url: proxy.url });
    await using watching = await watch(database, 20);
    const lost = once(watching.seen, 'warning');
    proxy.cut();
    await lost;
    const event = await remote.change(sampleChange({ topic: 'secret' }), async () => {});
    const told = reported(watching.seen, () => event.id);
    const back = new Promise<void>((resolve) =>
      watching.seen.on('warning', (message) => void (message.includes('seen again') && resolve())),
    );
    proxy.mend();
    expect(await told).toEqual(new Set(['secret']));
    await back;
    expect(await createStore(database).events.lastId()).toBe(event.id);
  });

  test('fail a change whose connection breaks, and the next one works', async () => {
    await using proxy = await cuttableProxy(fresh.url);
    await using database = await openDatabase({ url: proxy.url });
    await using watching = await watch(database, 20);
    const cutStore = createStore(database);
    const policy = samplePolicy();
    const broken = cutStore.change(sampleChange(), async (tx) => {
      await tx.policies.insert(policy);
      const lost = once(watching.seen, 'warning');
      proxy.cut();
      await lost;
    });
    await expect(broken).rejects.toThrow(Error);
    await expect(cutStore.policies.list()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
    proxy.mend();
    // One of the connections that were cut may not have been noticed yet.
    const next = () => cutStore.change(sampleChange(), async () => {}).then(() => 'made', String);
    await expect.poll(next, { timeout: 60_000 }).toBe('made');
    expect(await store.policies.get(policy.id)).toBeUndefined();
  });
});
