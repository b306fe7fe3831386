import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { openInventory, type Inventory } from '../../src/inventory/inventory.ts';
import { refreshSource } from '../../src/inventory/refresh-source.ts';
import { toolId } from '../../src/inventory/tool-id.ts';
import type { ChangeTopic } from '../../src/model/event.ts';
import type { SourceRecord } from '../../src/model/source.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { createStore, type Store, type StoreNouns } from '../../src/store/store.ts';
import { sampleGroup, samplePolicy, samplePrincipal } from '../fixtures/samples.ts';

const namespaces = ['files', 'mail'];
const names = ['read', 'send', 'find'];
const callers = ['a', 'b'].map((role) => samplePrincipal({ role }));

type Step =
  | { do: 'source'; namespace: string; enabled: boolean }
  | { do: 'delete'; namespace: string }
  | { do: 'refresh'; namespace: string; names: string[]; text: string }
  | { do: 'override'; namespace: string; name: string; hidden: boolean }
  | { do: 'policy'; role: string; groups: string[]; gone: boolean }
  | { do: 'group'; id: string; source: string; gone: boolean }
  | { do: 'available'; namespace: string; is: boolean }
  | { do: 'reload' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('source'), namespace: fc.constantFrom(...namespaces), enabled: fc.constantFrom(true, true, false) }),
  fc.record({ do: fc.constant('delete'), namespace: fc.constantFrom(...namespaces) }),
  fc.record({
    do: fc.constant('refresh'),
    namespace: fc.constantFrom(...namespaces),
    names: fc.subarray(names),
    text: fc.constantFrom('letter', 'parcel'),
  }),
  fc.record({
    do: fc.constant('override'),
    namespace: fc.constantFrom(...namespaces),
    name: fc.constantFrom(...names),
    hidden: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('policy'),
    role: fc.constantFrom('a', 'b'),
    groups: fc.subarray(['g0', 'g1']),
    gone: fc.constantFrom(false, false, true),
  }),
  fc.record({
    do: fc.constant('group'),
    id: fc.constantFrom('g0', 'g1'),
    source: fc.constantFrom('*', ...namespaces),
    gone: fc.constantFrom(false, false, true),
  }),
  fc.record({ do: fc.constant('available'), namespace: fc.constantFrom(...namespaces), is: fc.boolean() }),
  fc.record({ do: fc.constant('reload') }),
);
const idOf = (namespace: string) => `id-${namespace}`;
const sourceOf = (namespace: string, enabled: boolean): SourceRecord => ({
  id: idOf(namespace),
  name: namespace,
  namespace,
  source_type: 'builtin',
  enabled,
  definition: null,
  managed_by: null,
  created_at: 1,
  updated_at: 1,
});

const beginning: Step[] = [
  ...namespaces.map((namespace) => ({ do: 'source', namespace, enabled: true }) as const),
  ...namespaces.map((namespace) => ({ do: 'refresh', namespace, names, text: 'letter' }) as const),
  { do: 'group', id: 'g0', source: '*', gone: false },
  { do: 'policy', role: 'a', groups: ['g0'], gone: false },
];

function change(store: Store, topic: ChangeTopic, subject: string, mutate: (tx: StoreNouns) => Promise<unknown>) {
  return store.change({ kind: `${topic}-changed`, topic, subject, actor: 'system', before: null, after: null }, mutate);
}

async function make(store: Store, made: Step): Promise<unknown> {
  switch (made.do) {
    case 'source':
      return change(store, 'source', idOf(made.namespace), (tx) => tx.sources.upsert(sourceOf(made.namespace, made.enabled)));
    case 'delete':
      return change(store, 'source', idOf(made.namespace), (tx) => tx.sources.delete(idOf(made.namespace)));
    case 'refresh': {
      const source = await store.sources.get(idOf(made.namespace));
      if (source === undefined) return undefined;
      const discovered = made.names.map((name) => ({
        definition: { name, description: made.text, input_schema: { type: 'object' } },
        tags: [],
        execution_mode: 'builtin' as const,
      }));
      return refreshSource({ store, source, discovered, actor: 'system', now: 5 });
    }
    case 'override': {
      const id = toolId(idOf(made.namespace), made.name);
      if ((await store.tools.get(id)) === undefined) return undefined;
      return change(store, 'tool', id, (tx) => tx.tools.setOverrides(id, { hidden: made.hidden }, 5));
    }
    case 'policy': {
      const matchers = [{ path: 'role', operator: 'equals', value: made.role } as const];
      const policy = samplePolicy({ id: made.role, matchers, groups: made.groups });
      return change(store, 'policy', policy.id, async (tx) => {
        await tx.policies.delete(policy.id);
        if (!made.gone) await tx.policies.insert(policy);
      });
    }
    case 'group':
      return change(store, 'group', made.id, async (tx) => {
        await tx.groups.delete(made.id);
        if (!made.gone) await tx.groups.insert(sampleGroup({ id: made.id, selectors: [{ source: made.source }] }));
      });
    case 'available':
    case 'reload':
      return undefined;
  }
}

/** Everything that somebody could see of an inventory. */
function seen(inventory: Inventory) {
  return {
    revision: inventory.rules.revision,
    sources: [...inventory.sources],
    tools: inventory.snapshot.tools,
    ofSources: namespaces.map((namespace) => inventory.snapshot.ofSource(idOf(namespace)).length),
    found: namespaces.flatMap((namespace) => names.map((name) => inventory.find(`${namespace}.${name}`)?.state)),
    policies: inventory.rules.policies.map(({ policy }) => policy),
    groups: [...inventory.rules.groups.keys()].sort(),
    callers: callers.map((caller) => {
      const access = inventory.accessOf(caller);
      const allowed = access.tools.map(({ tool_id }) => access.permissions.get(tool_id)?.policies);
      const searched = ['letter', 'parcel', 'read'].map((query) => inventory.search(access, query).map(({ name }) => name));
      return { allowed, searched, fingerprint: access.fingerprint, tools: access.tools.map(({ name }) => name) };
    }),
  };
}

const warn = (message: string) => expect.unreachable(message);

/** Returns how many tools the callers may use, together. */
async function compareWithFresh(inventory: Inventory, store: Store, unavailable: ReadonlySet<string>): Promise<number> {
  const fresh = await openInventory({ store, warn });
  for (const namespace of unavailable) fresh.setAvailable(idOf(namespace), false);
  expect(seen(inventory)).toEqual(seen(fresh));
  return callers.reduce((sum, caller) => sum + fresh.accessOf(caller).tools.length, 0);
}

test('[POL-5] [INV-2] [INV-4] an inventory that followed any changes is the same as one that was just opened', async () => {
  let granted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
      await using database = await openDatabase({ file: ':memory:' });
      const store = createStore(database);
      for (const made of beginning) await make(store, made);
      const inventory = await openInventory({ store, warn });
      const unavailable = new Set<string>();
      for (const made of [...steps, { do: 'reload' } as const]) {
        await make(store, made);
        if (made.do === 'available') {
          inventory.setAvailable(idOf(made.namespace), made.is);
          if (made.is) unavailable.delete(made.namespace);
          else unavailable.add(made.namespace);
        } else if (made.do === 'reload') {
          await inventory.reload(new Set(['source', 'tool', 'group', 'policy']));
          granted += await compareWithFresh(inventory, store, unavailable);
        }
      }
    }),
    { numRuns: 60 },
  );
  expect(granted).toBeGreaterThan(60);
});
