import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Group, Matcher, Pattern, Policy, Selector } from '../../src/model/policy.ts';
import type { Tool } from '../../src/model/tool.ts';
import { createAccessBook } from '../../src/policy/access.ts';
import { explainPolicies } from '../../src/policy/explain.ts';
import { compileRules } from '../../src/policy/rules.ts';
import { sampleGroup, samplePolicy, samplePrincipal, sampleTool } from '../fixtures/samples.ts';

// --- what the specification says, written down once more, slowly and without memory --------------------------------------------------

function claimNamed(claims: JsonObject, path: Matcher['path']): Json | undefined {
  let segments: string[];
  if (Array.isArray(path)) segments = path;
  else if (path.startsWith('/')) segments = path.split('/').slice(1);
  else segments = path.split('.');
  return segments.reduce<Json | undefined>((value, segment) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return Object.entries(value).find(([name]) => name === segment)?.[1];
  }, claims);
}

function matcherHolds(matcher: Matcher, claims: JsonObject): boolean {
  const claim = claimNamed(claims, matcher.path);
  if (claim === undefined || claim === null) return false;
  const same = (a: Json, b: Json) => typeof a === typeof b && a === b;
  const list = Array.isArray(claim) ? claim : undefined;
  const isObject = typeof claim === 'object' && list === undefined;
  const words = typeof claim === 'string' ? claim.split(' ').filter((word) => word.length > 0) : undefined;
  switch (matcher.operator) {
    case 'exists':
      return true;
    case 'equals':
      return same(claim, matcher.value);
    case 'not_equals':
      return !isObject && !(list ?? [claim]).some((element) => same(element, matcher.value));
    case 'contains':
      return (list ?? words ?? []).some((element) => same(element, matcher.value));
    case 'not_contains': {
      const elements = list ?? words;
      return elements !== undefined && !elements.some((element) => same(element, matcher.value));
    }
    case 'in':
      return (list ?? [claim]).some((element) => matcher.value.some((value) => same(element, value)));
    case 'not_in':
      return !isObject && !(list ?? [claim]).some((element) => matcher.value.some((value) => same(element, value)));
    case 'matches':
      return (list ?? [claim]).some((element) => typeof element === 'string' && new RegExp(`^(?:${matcher.value})$`, 's').test(element));
    default:
      return false;
  }
}

function patternFits(pattern: Pattern | undefined, text: string | null): boolean {
  if (pattern === undefined) return true;
  if (text === null) return false;
  const expression = typeof pattern === 'string' ? pattern.replaceAll('*', '.*') : pattern.regex;
  return new RegExp(`^(?:${expression})$`, 's').test(text);
}

function selectorChooses(selector: Selector, tool: Tool): boolean {
  return (
    (selector.source === tool.source_id || patternFits(selector.source, tool.namespace)) &&
    patternFits(selector.name, tool.definition.name) &&
    patternFits(selector.path, tool.path) &&
    patternFits(selector.method, tool.method) &&
    (selector.tags ?? []).every((tag) => tool.tags.some((own) => patternFits(tag, own))) &&
    Object.entries(selector.labels ?? {}).every(([label, pattern]) => patternFits(pattern, tool.labels[label] ?? null))
  );
}

function isAllowed(tool: Tool, claims: JsonObject, policies: Policy[], groups: Group[]): boolean {
  if (tool.state !== 'active') return false;
  const isNamedIn = (references: string[]) => references.includes(tool.tool_id);
  return policies.some(
    (policy) =>
      policy.enabled &&
      policy.matchers.length > 0 &&
      policy.matchers.every((matcher) => matcherHolds(matcher, claims)) &&
      groups.some(
        (group) =>
          policy.groups.includes(group.id) &&
          (group.selectors.some((selector) => selectorChooses(selector, tool)) || isNamedIn(group.include)) &&
          !isNamedIn(group.exclude),
      ),
  );
}

// --- random worlds, small enough that everything meets everything ---------------------------------------------------------------------

const namespaces = ['a', 'ab', 'b-a'];
const names = ['get', 'get_x', 'put'];
const word = fc.constantFrom('a', 'b', 'ab', 'a b', '');
const scalar = fc.oneof(word, fc.constantFrom(0, 1, 2), fc.boolean());
const claimValue = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 3, arbitrary: fc.array(fc.oneof(scalar, fc.constant(null), fc.constant(['a'])), { maxLength: 3 }) },
  fc.constant(null),
  fc.constant({ a: 'b' }),
);
const claims = fc.record(
  { role: claimValue, 'x.y': claimValue, constructor: claimValue, nested: fc.record({ role: claimValue }, { requiredKeys: [] }) },
  { requiredKeys: ['role', 'nested'] },
) as fc.Arbitrary<JsonObject>;

const path = fc.constantFrom<Matcher['path']>('role', 'nested.role', '/nested/role', ['x.y'], 'x.y', 'constructor', 'toString', 'nested');
const expression = fc.constantFrom('a', 'a|ab', 'a.*', '[ab]+', '');
const matcher: fc.Arbitrary<Matcher> = fc.oneof(
  fc.record({ path, operator: fc.constantFrom('equals', 'not_equals', 'contains', 'not_contains'), value: scalar }),
  fc.record({ path, operator: fc.constantFrom('in', 'not_in'), value: fc.array(scalar, { minLength: 1, maxLength: 3 }) }),
  fc.record({ path, operator: fc.constant('exists') }),
  fc.record({ path, operator: fc.constant('matches'), value: expression }),
);

const patternOver = (texts: string[]): fc.Arbitrary<Pattern> =>
  fc.oneof(
    fc.constantFrom(...texts, '*', 'a*', '*a', 'g*t', '*_*'),
    fc.record({ regex: fc.constantFrom('.*', 'a+b?', 'get|put', '[^_]*') }),
  );
const conditions = fc
  .record(
    {
      source: patternOver([...namespaces, 'source-ab']),
      name: patternOver(names),
      path: patternOver(['/a']),
      method: patternOver(['GET']),
      tags: fc.array(patternOver(['a', 'b']), { minLength: 1, maxLength: 2 }),
      labels: fc.dictionary(fc.constantFrom('a', 'b'), patternOver(['a', 'b']), { minKeys: 1, maxKeys: 2 }),
    },
    { requiredKeys: [] },
  )
  .filter((selector) => Object.keys(selector).length > 0);
const selector: fc.Arbitrary<Selector> = fc.oneof(
  conditions,
  fc.record({ source: patternOver(namespaces) }),
  fc.record({ name: patternOver(names) }),
);

const tool: fc.Arbitrary<Tool> = fc
  .record(
    {
      namespace: fc.constantFrom(...namespaces),
      name: fc.constantFrom(...names),
      tags: fc.subarray(['a', 'b']),
      method: fc.constantFrom('GET', 'POST'),
      path: fc.constantFrom('/a', '/a/b'),
      labels: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('a', 'b'), { maxKeys: 2 }),
      state: fc.constantFrom('active', 'active', 'active', 'quarantined'),
      hidden: fc.constantFrom(false, false, false, true),
    },
    { requiredKeys: ['namespace', 'name', 'tags', 'method'] },
  )
  .map(sampleTool);
const tools = fc
  .uniqueArray(tool, { selector: ({ name }) => name, minLength: 3, maxLength: 9 })
  .map((list) => list.toSorted((a, b) => (a.name < b.name ? -1 : 1)));

const reference = fc
  .tuple(fc.constantFrom(...namespaces), fc.constantFrom(...names))
  .map(([namespace, name]) => sampleTool({ namespace, name }).tool_id);
const references = fc.array(reference, { maxLength: 3 });
const groupIds = ['g1', 'g2', 'g3'];
const groups = fc
  .array(fc.record({ selectors: fc.array(selector, { minLength: 1, maxLength: 4 }), include: references, exclude: references }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((list) => list.map((group, index) => sampleGroup({ id: groupIds[index], ...group })));
const policies = fc
  .array(
    fc.record({
      enabled: fc.constantFrom(true, true, true, false),
      matchers: fc.oneof({ weight: 4, arbitrary: fc.array(matcher, { minLength: 1, maxLength: 2 }) }, fc.array(matcher, { maxLength: 3 })),
      groups: fc.subarray([...groupIds, 'gone'], { minLength: 1 }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((list) => list.map((policy, index) => samplePolicy({ id: `p${index}`, ...policy })));

test('[POL-3] list, call and explanation always agree, with each other and with an independent reading of the rules', () => {
  const seen = { allowed: 0, refused: 0 };
  fc.assert(
    fc.property(tools, groups, policies, fc.array(claims, { minLength: 1, maxLength: 4 }), (tools, groups, policies, callers) => {
      const rules = compileRules({ policies, groups, revision: 1, warn: expect.unreachable });
      const book = createAccessBook({ rules, tools });
      for (const claims of callers) {
        const access = book.accessOf(samplePrincipal(claims));
        const expected = tools.filter((tool) => isAllowed(tool, claims, policies, groups)).map(({ name }) => name);
        const explained = tools.filter((tool) => explainPolicies(rules, claims, tool).some(({ grants }) => grants)).map(({ name }) => name);
        expect(access.tools.map(({ name }) => name)).toEqual(expected);
        expect(tools.filter((tool) => access.permissions.has(tool.tool_id)).map(({ name }) => name)).toEqual(expected);
        expect(explained).toEqual(expected);
        for (const tool of access.tools) {
          const granting = explainPolicies(rules, claims, tool).filter(({ grants }) => grants);
          expect(access.permissions.get(tool.tool_id)?.policies).toBe(granting.map(({ id }) => id).join(' '));
        }
        seen.allowed += expected.length;
        seen.refused += tools.length - expected.length;
      }
    }),
    { numRuns: 1500 },
  );
  // A property that never met both outcomes would prove nothing.
  expect(Math.min(seen.allowed, seen.refused)).toBeGreaterThan(500);
});
