import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import type { Group, Matcher, Policy } from '../../src/model/policy.ts';
import { createAccessBook } from '../../src/policy/access.ts';
import { compileRules, type Rules } from '../../src/policy/rules.ts';
import { sampleGroup, samplePolicy, samplePrincipal, sampleTool } from '../fixtures/samples.ts';

function rulesOf(policies: Policy[], groups: Group[] = [], warnings: string[] = []): Rules {
  return compileRules({ policies, groups, revision: 7, warn: (message) => warnings.push(message) });
}

function grantedIds(rules: Rules, claims: JsonObject): string[] {
  return rules.granted(claims).map(({ id }) => id);
}

const isAdmin: Matcher = { path: 'realm_access.roles', operator: 'contains', value: 'admin' };
const inSales: Matcher = { path: 'department', operator: 'equals', value: 'sales' };

describe('policies', () => {
  test('[POL-1] a policy without matchers grants nothing', () => {
    expect(grantedIds(rulesOf([samplePolicy({ matchers: [] })]), { sub: 'alice' })).toEqual([]);
  });

  test('[POL-1] all matchers of a policy must hold', () => {
    const rules = rulesOf([samplePolicy({ matchers: [isAdmin, inSales] })]);
    expect(grantedIds(rules, { realm_access: { roles: ['admin'] }, department: 'sales' })).toEqual(['staff']);
    expect(grantedIds(rules, { realm_access: { roles: ['admin'] } })).toEqual([]);
    expect(grantedIds(rules, { department: 'sales' })).toEqual([]);
  });

  test('[POL-1] any policy may grant', () => {
    const rules = rulesOf([samplePolicy({ id: 'a', matchers: [isAdmin] }), samplePolicy({ id: 'b', matchers: [inSales] })]);
    expect(grantedIds(rules, { department: 'sales' })).toEqual(['b']);
    expect(grantedIds(rules, { department: 'sales', realm_access: { roles: ['admin'] } })).toEqual(['a', 'b']);
    expect(grantedIds(rules, {})).toEqual([]);
  });

  test('[POL-1] a disabled policy grants nothing', () => {
    expect(grantedIds(rulesOf([samplePolicy({ enabled: false })]), { sub: 'alice' })).toEqual([]);
  });

  test('[POL-1] without policies nobody gets anything', () => {
    expect(grantedIds(rulesOf([]), { sub: 'alice' })).toEqual([]);
  });

  test('[POL-2] a stored expression that does not compile disables its whole policy, says so, and leaves the others alone', () => {
    const warnings: string[] = [];
    const bad = samplePolicy({ id: 'bad', matchers: [inSales, { path: 'sub', operator: 'matches', value: '(' }] });
    const rules = rulesOf([bad, samplePolicy({ id: 'good' })], [], warnings);
    expect(grantedIds(rules, { sub: '(', department: 'sales' })).toEqual(['good']);
    expect(warnings).toEqual([expect.stringContaining('Policy bad grants nothing')]);
  });

  test('[POL-2] a stored group that does not compile is empty and says so', () => {
    const warnings: string[] = [];
    const broken = sampleGroup({ id: 'broken', selectors: [{ name: { regex: '(' } }], include: ['tool_x'] });
    const rules = rulesOf([samplePolicy({ groups: ['broken'] })], [broken], warnings);
    const access = createAccessBook({ rules, tools: [sampleTool()] }).accessOf(samplePrincipal({ sub: 'alice' }));
    expect(access.tools).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('Group broken is empty')]);
  });
});

describe('the cache of decisions', () => {
  const rules = rulesOf([samplePolicy({ id: 'a', matchers: [isAdmin] }), samplePolicy({ id: 'b', matchers: [inSales] })]);

  test('is shared by callers that differ only in claims no policy reads', () => {
    const alice = rules.granted({ sub: 'alice', jti: '1', department: 'sales' });
    expect(rules.granted({ sub: 'bob', jti: '2', exp: 5, department: 'sales' })).toBe(alice);
  });

  test('is shared by callers whose different claims grant the same', () => {
    const one = rules.granted({ realm_access: { roles: ['admin'] } });
    expect(rules.granted({ realm_access: { roles: ['admin', 'user'] }, department: 'support' })).toBe(one);
  });

  test('is not shared by callers that differ in a claim some policy reads', () => {
    expect(rules.granted({ department: 'sales' })).not.toBe(rules.granted({ department: 'support' }));
  });

  test.each<[string, string, string]>([
    ['text and number', '{"department": "7"}', '{"department": 7}'],
    ['text and list', '{"department": "a"}', '{"department": ["a"]}'],
    ['missing and the word null', '{}', '{"department": "null"}'],
    ['missing and false', '{}', '{"department": false}'],
    ['one claim and the other', '{"department": ["admin"]}', '{"realm_access": {"roles": ["admin"]}}'],
    ['missing and a number that JSON writes as null', '{}', '{"department": 1e400}'],
  ])('[POL-2] gives no caller the decision of another: %s', (_why, first, second) => {
    const matchers: Matcher[] = [
      { path: 'department', operator: 'exists' },
      { path: 'department', operator: 'equals', value: 7 },
      { path: 'department', operator: 'not_equals', value: 'x' },
      { path: 'department', operator: 'contains', value: 'a' },
      isAdmin,
    ];
    const fresh = () => rulesOf(matchers.map((matcher, index) => samplePolicy({ id: `p${index}`, matchers: [matcher] })));
    for (const [earlier, later] of [
      [first, second],
      [second, first],
    ] as const) {
      const shared = fresh();
      shared.granted(JSON.parse(earlier) as JsonObject);
      const claims = JSON.parse(later) as JsonObject;
      expect(grantedIds(shared, claims)).toEqual(grantedIds(fresh(), claims));
    }
  });

  test('forgets the oldest when it is full, and decisions stay the same', () => {
    const matches = rulesOf([samplePolicy({ id: 'even', matchers: [{ path: 'n', operator: 'matches', value: '.*[02468]' }] })]);
    let wrong = 0;
    for (let n = 0; n < 110_000; n++) if (matches.granted({ n: String(n) }).length !== (n % 2 === 0 ? 1 : 0)) wrong++;
    expect(wrong).toBe(0);
  });
});
