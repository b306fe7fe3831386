import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import type { Group, Policy } from '../../src/model/policy.ts';
import type { Principal } from '../../src/model/principal.ts';
import type { Tool } from '../../src/model/tool.ts';
import { createAccessBook, createLiveAccess, type Access } from '../../src/policy/access.ts';
import { ActiveTools } from '../../src/policy/active-tools.ts';
import { compileRules, createLiveRules } from '../../src/policy/rules.ts';
import { sampleGroup, samplePolicy, samplePrincipal, sampleTool } from '../fixtures/samples.ts';

const names = ['get_a', 'get_b', 'put_a', 'put_b', 'list'];
const ids = ['p0', 'p1', 'p2'];
const groupIds = ['g0', 'g1', 'g2'];
const roles = ['a', 'b', 'c'];

type Step =
  | { do: 'tool'; name: string; text: string; hidden: boolean }
  | { do: 'remove'; name: string }
  | { do: 'policy'; id: string; policy: Policy | undefined }
  | { do: 'group'; id: string; group: Group | undefined }
  | { do: 'list'; caller: number };

const matcher = fc.oneof(
  fc.record({ path: fc.constant('role'), operator: fc.constantFrom('equals', 'contains', 'not_equals'), value: fc.constantFrom(...roles) }),
  fc.record({ path: fc.constant('role'), operator: fc.constant('in'), value: fc.subarray(roles, { minLength: 1 }) }),
  fc.record({ path: fc.constantFrom('role', 'team'), operator: fc.constant('exists') }),
  fc.record({ path: fc.constant('role'), operator: fc.constant('matches'), value: fc.constantFrom('a', '[bc]') }),
) as fc.Arbitrary<Policy['matchers'][number]>;
const policy = fc.record({
  matchers: fc.oneof({ weight: 5, arbitrary: fc.array(matcher, { minLength: 1, maxLength: 1 }) }, fc.array(matcher, { maxLength: 2 })),
  groups: fc.subarray([...groupIds, 'gone'], { minLength: 1 }),
  enabled: fc.constantFrom(true, true, true, false),
});
const group = fc.record({
  selectors: fc.array(fc.record({ name: fc.constantFrom('get_*', 'put_*', '*_a', 'list') }), { minLength: 1, maxLength: 2 }),
  exclude: fc.subarray(
    names.map((name) => sampleTool({ name }).tool_id),
    { maxLength: 1 },
  ),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('tool'),
    name: fc.constantFrom(...names),
    text: fc.constantFrom('x', 'y'),
    hidden: fc.constantFrom(false, false, true),
  }),
  fc.record({ do: fc.constant('remove'), name: fc.constantFrom(...names) }),
  fc
    .tuple(fc.constantFrom(...ids), fc.option(policy, { nil: undefined, freq: 4 }))
    .map(([id, made]) => ({ do: 'policy', id, policy: made && samplePolicy({ id, ...made }) })),
  fc
    .tuple(fc.constantFrom(...groupIds), fc.option(group, { nil: undefined, freq: 4 }))
    .map(([id, made]) => ({ do: 'group', id, group: made && sampleGroup({ id, ...made }) })),
  fc.record({ do: fc.constant('list'), caller: fc.nat(3) }),
) as fc.Arbitrary<Step>;

const claims: JsonObject[] = [{ role: 'a' }, { role: ['b', 'c'] }, { role: 'a b', team: 'x' }, { team: 'x' }];
const callers = claims.map((claims) => samplePrincipal(claims));

function decisions({ tools, permissions, fingerprint }: Access) {
  return {
    tools: tools.map(({ tool_id }) => permissions.get(tool_id)),
    asked: names.map((name) => permits(permissions, name)),
    fingerprint,
  };
}

function permits(permissions: Access['permissions'], name: string) {
  return permissions.get(sampleTool({ name }).tool_id)?.policies;
}

test('[POL-3] [POL-5] after any changes the decisions are those of rules and tools that were never different', () => {
  const seen = { granted: 0, refused: 0 };
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), fc.constantFrom(64_000_000, 1), (steps, mostBytes) => {
      const tools = new Map<string, Tool>();
      const policies = new Map<string, Policy>();
      const groups = new Map<string, Group>();
      const active = new ActiveTools();
      const rules = createLiveRules({ policies: [], groups: [], revision: 0, warn: expect.unreachable });
      const live = createLiveAccess({ rules: rules.current, tools: active, mostBytes });
      const held: { access: Access; tools: readonly Tool[]; fingerprint: string }[] = [];
      let revision = 0;
      const changeRules = (changed: { policies?: Map<string, Policy | undefined>; groups?: Map<string, Group | undefined> }) =>
        live.follow(rules.change({ revision: ++revision, policies: new Map(), groups: new Map(), ...changed }));
      const put = <Value>(map: Map<string, Value>, id: string, value: Value | undefined) =>
        value === undefined ? map.delete(id) : map.set(id, value);

      for (const made of steps) {
        if (made.do === 'tool' || made.do === 'remove') {
          const before = tools.get(made.name);
          const after = made.do === 'tool' ? sampleTool({ name: made.name, text: made.text, hidden: made.hidden }) : undefined;
          put(tools, made.name, after);
          active.change(before === undefined ? [] : [before], after === undefined ? [] : [after]);
        } else if (made.do === 'policy') {
          put(policies, made.id, made.policy);
          changeRules({ policies: new Map([[made.id, made.policy]]) });
        } else if (made.do === 'group') {
          put(groups, made.id, made.group);
          changeRules({ groups: new Map([[made.id, made.group]]) });
        } else {
          // Only some lists are read in between, so that others catch up over several changes.
          const access = live.accessOf(callers[made.caller] as Principal);
          held.push({ access, tools: access.tools, fingerprint: access.fingerprint });
          continue;
        }
        const asked = made.do === 'tool' ? callers.slice(0, 2) : callers;
        const fresh = createAccessBook({
          rules: compileRules({ policies: [...policies.values()], groups: [...groups.values()], revision, warn: expect.unreachable }),
          tools: [...tools.values()],
        });
        for (const caller of asked) {
          const expected = fresh.accessOf(caller);
          const access = live.accessOf(caller);
          // Calls first: a decision must not need a list.
          expect(names.map((name) => permits(access.permissions, name))).toEqual(names.map((name) => permits(expected.permissions, name)));
          expect(decisions(access)).toEqual(decisions(expected));
          expect(access.revision).toBe(revision);
          seen.granted += expected.tools.length;
          seen.refused += tools.size - expected.tools.length;
        }
      }
      for (const { access, tools, fingerprint } of held) expect([access.tools, access.fingerprint]).toEqual([tools, fingerprint]);
    }),
    { numRuns: 120 },
  );
  expect(Math.min(seen.granted, seen.refused)).toBeGreaterThan(300);
});

const all = sampleGroup({ id: 'all', selectors: [{ source: '*' }] });
const some = sampleGroup({ id: 'some', selectors: [{ name: 'get_*' }] });

function opened(policies: Policy[], groups: Group[], tools: Tool[], mostBytes?: number) {
  const active = new ActiveTools(tools);
  const rules = createLiveRules({ policies, groups, revision: 1, warn: expect.unreachable });
  const live = createLiveAccess({ rules: rules.current, tools: active, ...(mostBytes === undefined ? {} : { mostBytes }) });
  return { active, rules, live };
}

test('a change of other tools and rules leaves a list as it was, the very same array', () => {
  const policies = [samplePolicy({ id: 'p', groups: ['some'] }), samplePolicy({ id: 'q', matchers: [], groups: ['all'] })];
  const { active, rules, live } = opened(
    policies,
    [all, some],
    names.map((name) => sampleTool({ name })),
  );
  const caller = samplePrincipal({ sub: 'alice' });
  const before = live.accessOf(caller);
  const { tools } = before;
  active.change([active.get(sampleTool({ name: 'list' }).tool_id) as Tool], [sampleTool({ name: 'put_c' })]);
  live.follow(rules.change({ revision: 2, policies: new Map([['q', undefined]]), groups: new Map([['all', undefined]]) }));
  const after = live.accessOf(caller);
  expect(after).not.toBe(before);
  expect(after.tools).toBe(tools);
});

test('[POL-3] a call asks the groups about its own tool only, however many tools there are', () => {
  const many = Array.from({ length: 2000 }, (_, index) => sampleTool({ name: `get_${index}` }));
  let asked = 0;
  const { rules, active } = opened([samplePolicy({ groups: ['some'] })], [some], many);
  const groups = new Map([['some', (tool: Tool) => (asked++, rules.current.groups.get('some')?.(tool) ?? false)]]);
  const live = createLiveAccess({ rules: { ...rules.current, groups }, tools: active });
  const { permissions } = live.accessOf(samplePrincipal({ sub: 'alice' }));
  for (let time = 0; time < 3; time++) expect(permissions.get(many[7]?.tool_id ?? '')?.policies).toBe('staff');
  expect(asked).toBe(1);
});

test('the sets of grants that are kept fit into their memory', () => {
  const policies = Array.from({ length: 200 }, (_, index) =>
    samplePolicy({ id: `p${index}`, matchers: [{ path: 'n', operator: 'equals', value: index }], groups: ['all'] }),
  );
  const { live } = opened(
    policies,
    [all],
    Array.from({ length: 500 }, (_, index) => sampleTool({ name: `t${index}` })),
    200_000,
  );
  const callers = policies.map((_, index) => samplePrincipal({ n: index }));
  for (let round = 0; round < 2; round++)
    for (const caller of callers) {
      expect(live.accessOf(caller).tools.length).toBe(500);
      expect(live.kept).toBeLessThanOrEqual(21);
    }
});

test('after more changes than are kept, lists are made afresh', () => {
  const { active, live } = opened([samplePolicy({ groups: ['all'] })], [all], [sampleTool({ name: 'a' })]);
  const caller = samplePrincipal({ sub: 'alice' });
  expect(live.accessOf(caller).tools.length).toBe(1);
  for (let round = 0; round < 1500; round++) {
    const tool = sampleTool({ name: 'b', text: String(round) });
    active.change([], [tool]);
  }
  expect(active.since(0)).toBeUndefined();
  expect(live.accessOf(caller).tools.map(({ definition }) => definition.description)).toEqual(['', '1499']);
});
