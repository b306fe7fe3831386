import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wishedStateSchema } from '../../src/administration/configuration/wished-state.ts';
import { openCrib, type Crib } from '../../src/crib.ts';
import { createConnectionVault } from '../../src/identity/oauth/connection-vault.ts';
import { refreshSource } from '../../src/inventory/refresh-source.ts';
import type { ChangeEvent } from '../../src/model/event.ts';
import { groupInputSchema, policyInputSchema } from '../../src/model/policy.ts';
import type { SourceRecord } from '../../src/model/source.ts';
import type { DiscoveredTool } from '../../src/model/tool.ts';
import { parseKeyRing } from '../../src/secrets/key-ring.ts';
import { sourceFormSchema } from '../../src/sources/source-forms.ts';
import { samplePrincipal } from '../fixtures/samples.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { temporaryDirectory, until, untilSeen } from '../running-server.ts';

const keys = `k1:${randomBytes(32).toString('base64')}`;
const admin = samplePrincipal({ sub: 'admin' });
/** "crib" in ASCII: what every change waits for on PostgreSQL. */
const changeLock = 0x63726962;

interface Servers {
  /** On PostgreSQL two servers, on SQLite the one that there can be. */
  first: Crib;
  second: Crib;
  /** Begins both while neither can write, the first one first, so that each has read whatever it reads beforehand. */
  atOnce(one: () => Promise<unknown>, other: () => Promise<unknown>): Promise<PromiseSettledResult<unknown>[]>;
}

let counted = 0;
const fresh = (word: string) => `${word}-${++counted}`;

function suite(open: () => Promise<Servers & AsyncDisposable>): void {
  const cleanup = new AsyncDisposableStack();
  let servers: Servers;
  beforeAll(async () => {
    servers = cleanup.use(await open());
  });
  afterAll(() => cleanup.disposeAsync());

  const both = [
    ['in this order', (one: Begin, other: Begin) => servers.atOnce(one, other)],
    ['the other way round', (one: Begin, other: Begin) => servers.atOnce(other, one)],
  ] as const;
  type Begin = () => Promise<unknown>;

  /** The recorded changes of a subject, oldest first. Checks that each one continues from the one before. */
  async function historyOf(subject: string, topic: ChangeEvent['topic']): Promise<ChangeEvent[]> {
    const events = (await servers.first.store.events.list({ limit: 100, topic })).filter((event) => event.subject === subject).reverse();
    expect(events.slice(1).map(({ before }) => before)).toEqual(events.slice(0, -1).map(({ after }) => after));
    return events;
  }

  const acknowledged = (results: PromiseSettledResult<unknown>[]) => results.filter(({ status }) => status === 'fulfilled');
  const remote = (fields: object) =>
    sourceFormSchema.parse({ source_type: 'mcp', mcp_server_url: 'http://127.0.0.1:9/mcp', enabled: false, ...fields });

  describe.each(both)('with two changes begun %s', (_order, atOnce) => {
    test('a source can be replaced while it is enabled or disabled', async () => {
      const { first, second } = servers;
      const namespace = fresh('source');
      const { id } = await first.sources.register(admin, remote({ name: 'Old', namespace, enabled: true }));
      const results = await atOnce(
        () => first.sources.setEnabled(admin, id, false),
        () => second.sources.replace(admin, id, remote({ name: 'New', namespace, enabled: false })),
      );
      expect(acknowledged(results)).toHaveLength(2);
      const events = await historyOf(id, 'source');
      expect(events).toHaveLength(3);
      expect(await first.store.sources.get(id)).toMatchObject({ name: 'New', enabled: false });
      expect(events.at(-1)?.after).toMatchObject({ name: 'New', enabled: false });
    });

    test('a source can be replaced twice', async () => {
      const { first, second } = servers;
      const namespace = fresh('source');
      const { id } = await first.sources.register(admin, remote({ name: 'Old', namespace }));
      const results = await atOnce(
        () => first.sources.replace(admin, id, remote({ name: 'One', namespace })),
        () => second.sources.replace(admin, id, remote({ name: 'Other', namespace })),
      );
      expect(acknowledged(results)).toHaveLength(2);
      const events = await historyOf(id, 'source');
      expect(events).toHaveLength(3);
      expect(events.at(-1)?.after).toMatchObject({ name: (await first.store.sources.get(id))?.name });
    });

    test('a source that is removed while it is changed stays removed, and nothing of it runs', async () => {
      const { first, second } = servers;
      const { id } = await first.sources.register(admin, remote({ name: 'Gone', namespace: fresh('source') }));
      await atOnce(
        () => first.sources.delete(admin, id),
        () => second.sources.setEnabled(admin, id, false),
      );
      const events = await historyOf(id, 'source');
      expect(events.at(-1)).toMatchObject({ kind: 'source-deleted', after: null });
      expect(await first.store.sources.get(id)).toBeUndefined();
      // The other server hears of it.
      await untilSeen(() => first.supervisor.statusOf(id) === undefined && second.supervisor.statusOf(id) === undefined);
    });

    test('a group can be changed twice', async () => {
      const { first, second } = servers;
      const { id } = await first.groups.create(admin, groupInputSchema.parse({ name: 'Old' }));
      await atOnce(
        () => first.groups.update(admin, id, groupInputSchema.parse({ name: 'One' })),
        () => second.groups.update(admin, id, groupInputSchema.parse({ name: 'Other' })),
      );
      const events = await historyOf(id, 'group');
      expect(events).toHaveLength(3);
      expect(events.at(-1)?.after).toEqual(await first.store.groups.get(id));
    });

    test('deleting a group and granting it in a policy cannot both succeed', async () => {
      const { first, second } = servers;
      const { id } = await first.groups.create(admin, groupInputSchema.parse({ name: 'Needed' }));
      const results = await atOnce(
        () => first.groups.delete(admin, id),
        () => second.policies.create(admin, policyInputSchema.parse({ name: 'Grants', matchers: [], groups: [id] })),
      );
      expect(acknowledged(results)).toHaveLength(1);
      await historyOf(id, 'group');
    });

    test('a policy can be changed twice, and then deleted twice', async () => {
      const { first, second } = servers;
      const { id } = await first.policies.create(admin, policyInputSchema.parse({ name: 'Old', matchers: [], groups: [] }));
      await atOnce(
        () => first.policies.update(admin, id, policyInputSchema.parse({ name: 'One', matchers: [], groups: [] })),
        () => second.policies.update(admin, id, policyInputSchema.parse({ name: 'Other', matchers: [], groups: [] })),
      );
      expect((await historyOf(id, 'policy')).at(-1)?.after).toEqual(await first.store.policies.get(id));
      const deleted = await atOnce(
        () => first.policies.delete(admin, id),
        () => second.policies.delete(admin, id),
      );
      expect(acknowledged(deleted)).toHaveLength(1);
      expect(await historyOf(id, 'policy')).toHaveLength(4);
    });

    test('two fields of a tool can be overridden', async () => {
      const { first, second } = servers;
      const { toolId } = await withTool(first);
      await atOnce(
        () => first.tools.override(admin, toolId, { description: 'Another' }),
        () => second.tools.override(admin, toolId, { hidden: true }),
      );
      expect((await first.store.tools.get(toolId))?.overrides).toEqual({ description: 'Another', hidden: true });
      expect(await historyOf(toolId, 'tool')).toHaveLength(2);
    });

    test('a tool can be approved while it is overridden', async () => {
      const { first, second } = servers;
      const { toolId, definitionHash } = await withTool(first);
      await atOnce(
        () => first.approvals.approveTool(admin, toolId, definitionHash),
        () => second.tools.override(admin, toolId, { description: 'Another' }),
      );
      const tool = await first.store.tools.get(toolId);
      expect(tool).toMatchObject({ approved_hash: definitionHash, overrides: { description: 'Another' } });
    });

    test('approving tools while they are listed anew approves only the definitions that were seen', async () => {
      const { first, second } = servers;
      const { source, toolId, definitionHash } = await withTool(first);
      await atOnce(
        () => first.approvals.approveSource(admin, source, { [toolId]: definitionHash }),
        () => discover(second, source, 'Does something else'),
      );
      const tool = await first.store.tools.get(toolId);
      expect(tool?.discovered.definition.description).toBe('Does something else');
      expect(tool?.approved_hash).not.toBe(tool?.definition_hash);
    });

    test('tools listed while a source is replaced are not kept for the new source', async () => {
      const { first, second } = servers;
      const namespace = fresh('source');
      const source = await first.sources.register(admin, remote({ name: 'Old', namespace, pinning: 'off' }));
      await atOnce(
        () => second.sources.replace(admin, source.id, remote({ name: 'Old', namespace, pinning: 'quarantine' })),
        () => discover(first, source, 'Not looked at'),
      );
      const events = (await first.store.events.list({ limit: 20 })).filter(({ subject }) => subject === source.id).map(({ kind }) => kind);
      // Found before it was replaced, it is kept; found afterwards, by the old definition, it is not.
      expect(['source-changed,source-refreshed,source-created', 'source-changed,source-created']).toContain(events.join());
      await first.sources.delete(admin, source.id);
    });

    test('a secret can be set while it is deleted', async () => {
      const { first, second } = servers;
      const name = fresh('SECRET').replace('-', '_');
      await first.secrets.set(admin, name, 'old');
      await atOnce(
        () => first.secrets.set(admin, name, 'new'),
        () => second.secrets.delete(admin, name),
      );
      const events = await historyOf(name, 'secret');
      const isThere = (await first.secrets.list()).some((secret) => secret.name === name);
      expect(events.at(-1)?.after).toBe(isThere ? '***' : null);
    });

    test('a secret is not deleted once a source that needs it is registered', async () => {
      const { first, second } = servers;
      const name = fresh('SECRET').replace('-', '_');
      await first.secrets.set(admin, name, 'old');
      const credential = { type: 'bearer', token: { secret_ref: name } };
      await atOnce(
        () => first.secrets.delete(admin, name),
        () => second.sources.register(admin, remote({ name: 'Needs it', namespace: fresh('source'), credential })),
      );
      const kinds = (await first.store.events.list({ limit: 2 })).map(({ kind }) => kind);
      // Newest first: once a source needs it, it is not deleted.
      expect(kinds).not.toEqual(['secret-deleted', 'source-created']);
    });

    test('the wire log of a source can be switched twice', async () => {
      const { first } = servers;
      const { id } = await first.sources.register(admin, remote({ name: 'Watched', namespace: fresh('source') }));
      await Promise.all([
        first.wireLog.set(admin, id, { enabled: true, minutes: 5 }),
        first.wireLog.set(admin, id, { enabled: true, minutes: 9 }),
        first.wireLog.set(admin, id, { enabled: false, minutes: 1 }),
      ]);
      const events = (await first.store.events.list({ limit: 3 })).reverse();
      expect(events.map(({ before }) => before)).toEqual([{ enabled: false, until: null }, events[0]?.after, events[1]?.after]);
    });

    test('a connection that is ended twice is recorded as ended once', async () => {
      const { first, second } = servers;
      const place = {
        sourceId: (await first.sources.register(admin, remote({ name: 'OAuth', namespace: fresh('source') }))).id,
        owner: 'alice',
      };
      const vaultOf = ({ store }: Crib) => createConnectionVault({ store, keyRing: parseKeyRing(keys, 'the test'), now: Date.now });
      await vaultOf(first).change(place, () => ({ content: {}, connected_at: 1 }), 'connection-made');
      const results = await atOnce(
        () => vaultOf(first).delete(place),
        () => vaultOf(second).delete(place),
      );
      expect(results.filter((result) => result.status === 'fulfilled' && result.value !== undefined)).toHaveLength(1);
      const kinds = (await first.store.events.list({ limit: 100, topic: 'connection' })).filter(
        ({ subject }) => subject === place.sourceId,
      );
      expect(kinds.map(({ kind }) => kind)).toEqual(['connection-revoked', 'connection-made']);
    });

    test('a configuration can be applied while somebody changes the same things', async () => {
      const { first, second } = servers;
      const namespace = fresh('source');
      const file = (description: string) =>
        wishedStateSchema.parse({
          sources: { [namespace]: { source_type: 'mcp', mcp_server_url: 'http://127.0.0.1:9/mcp', enabled: false } },
          groups: { [namespace]: { description } },
          policies: { [namespace]: { description, matchers: [], groups: [namespace] } },
        });
      await first.configuration.apply(admin, file('first'));
      const results = await atOnce(
        () => first.configuration.apply(admin, file('second')),
        () => second.groups.update(admin, namespace, groupInputSchema.parse({ name: 'By hand' })),
      );
      expect(acknowledged(results)).toHaveLength(2);
      const events = await historyOf(namespace, 'group');
      expect(events.at(-1)?.after).toEqual(await first.store.groups.get(namespace));
      expect(events.some(({ after }) => (after as { name?: string } | null)?.name === 'By hand')).toBe(true);
      await historyOf(namespace, 'policy');
    });
  });

  /** A source with one tool that waits for approval. */
  async function withTool(crib: Crib) {
    const source = await crib.sources.register(admin, remote({ name: 'Tools', namespace: fresh('source'), pinning: 'quarantine' }));
    await discover(crib, source, 'Does one thing');
    await discover(crib, source, 'Does another thing');
    await servers.first.inventory.reload(new Set(['tool']));
    await servers.second.inventory.reload(new Set(['tool']));
    const [tool] = await crib.store.tools.listBySource(source.id);
    if (tool === undefined) throw new Error('It was not discovered');
    return { source, toolId: tool.tool_id, definitionHash: tool.definition_hash };
  }

  function discover({ store }: Crib, source: SourceRecord, description: string) {
    const tool: DiscoveredTool = {
      definition: { name: 'do_it', description, input_schema: { type: 'object' } },
      tags: [],
      execution_mode: 'mcp_call',
    };
    return refreshSource({ store, source, discovered: [tool], actor: 'system', now: Date.now() });
  }
}

const openTestCrib = (dataDir: string, databaseUrl?: string) =>
  openCrib({
    dataDir,
    ...(databaseUrl !== undefined && { databaseUrl }),
    keys,
    limits: { principal: {}, defaultTimeoutMs: 60_000, maxTimeoutMs: 60_000 },
    responseBytes: 1_048_576,
    artifacts: { bytesPerPrincipal: 0, days: 1 },
    retentionDays: 90,
    warn: () => undefined,
  });

describe('[SEC-4] two changes at once are both kept on SQLite', () => {
  suite(async () => {
    const opened = new AsyncDisposableStack();
    const folder = opened.use(await temporaryDirectory());
    const crib = opened.adopt(await openTestCrib(folder.path), (open) => open.close({ drainMs: 0 }));
    return {
      first: crib,
      second: crib,
      async atOnce(one, other) {
        const { promise: released, resolve: release } = Promise.withResolvers<void>();
        // There is one connection: while this has it, nobody writes.
        const held = crib.store.snapshot(() => released);
        const begun = [one(), other()];
        const settled = Promise.allSettled(begun);
        await nextTurn();
        release();
        await held;
        return settled;
      },
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  });
});

describe.skipIf(!part('postgres').available)('[SEC-4] two changes at once are both kept between servers on PostgreSQL', () => {
  suite(async () => {
    const opened = new AsyncDisposableStack();
    const { url } = opened.use(await freshPostgresDatabase());
    const folders = [opened.use(await temporaryDirectory()), opened.use(await temporaryDirectory())] as const;
    const openOne = async ({ path }: { path: string }) => opened.adopt(await openTestCrib(path, url), (open) => open.close({ drainMs: 0 }));
    const first = await openOne(folders[0]);
    const second = await openOne(folders[1]);
    const client = new Client(url);
    await client.connect();
    opened.defer(() => client.end());
    const waiting = async () => {
      const query = `select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted
        and objid = ${changeLock} and database = (select oid from pg_database where datname = current_database())`;
      return (await client.query<{ n: number }>(query)).rows[0]?.n ?? 0;
    };
    return {
      first,
      second,
      async atOnce(one, other) {
        // Locks are handed on in the order in which they were asked for.
        await client.query('select pg_advisory_lock($1)', [changeLock]);
        // Settled each by itself: one that is refused may be so before the lock is known to be given back.
        const begun = [Promise.allSettled([one()])];
        try {
          await until(async () => (await waiting()) >= 1);
          begun.push(Promise.allSettled([other()]));
          await until(async () => (await waiting()) >= 2);
        } finally {
          await client.query('select pg_advisory_unlock($1)', [changeLock]);
        }
        return (await Promise.all(begun)).flat();
      },
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  });
});
