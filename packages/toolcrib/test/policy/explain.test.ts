import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import type { Policy } from '../../src/model/policy.ts';
import type { Tool } from '../../src/model/tool.ts';
import { explainPolicies, type PolicyExplanation } from '../../src/policy/explain.ts';
import { compileRules } from '../../src/policy/rules.ts';
import { sampleGroup, samplePolicy, sampleTool } from '../fixtures/samples.ts';

const groups = [
  sampleGroup({ id: 'readers', selectors: [{ name: 'read_*' }] }),
  sampleGroup({ id: 'writers', selectors: [{ name: 'write_*' }] }),
];

function explain(policy: Partial<Policy>, claims: JsonObject, tool?: Tool): PolicyExplanation | undefined {
  const rules = compileRules({ policies: [samplePolicy(policy)], groups, revision: 1, warn: expect.unreachable });
  return explainPolicies(rules, claims, tool)[0];
}

describe('[POL-3] an explanation says', () => {
  const claims = { sub: 'alice', department: 'sales' };
  const both = ['readers', 'writers'];

  test.each<[string, Partial<Policy>, Tool | undefined, Partial<PolicyExplanation>]>([
    ['a policy grants', { groups: both }, undefined, { grants: true, reason: 'every matcher holds', groups: both }],
    ['a policy grants this tool', { groups: both }, sampleTool(), { grants: true, reason: 'every matcher holds', groups: ['readers'] }],
    ['it is disabled', { groups: both, enabled: false }, undefined, { grants: false, reason: 'the policy is disabled' }],
    ['it has no matchers', { matchers: [] }, undefined, { grants: false, reason: 'the policy has no matchers, so it grants nothing' }],
    [
      'a matcher does not hold',
      { matchers: [{ path: 'department', operator: 'equals', value: 'ops' }] },
      undefined,
      { grants: false, reason: 'not every matcher holds' },
    ],
    ['it grants no group', { groups: [] }, undefined, { grants: false, reason: 'the policy grants no group' }],
    [
      'its groups do not have the tool',
      { groups: ['writers'] },
      sampleTool(),
      { grants: false, reason: 'every matcher holds, but none of its groups has this tool', groups: [] },
    ],
    [
      'its only group is gone',
      { groups: ['gone'] },
      sampleTool(),
      { grants: false, reason: 'every matcher holds, but none of its groups has this tool', groups: [] },
    ],
    [
      'the tool is hidden',
      { groups: both },
      sampleTool({ hidden: true }),
      { grants: false, reason: 'every matcher holds, but the tool is hidden' },
    ],
    [
      'the tool is quarantined',
      { groups: both },
      sampleTool({ state: 'quarantined' }),
      { grants: false, reason: 'every matcher holds, but the tool is quarantined' },
    ],
  ])('that %s', (_why, policy, tool, expected) => {
    expect(explain(policy, claims, tool)).toMatchObject(expected);
  });
});

test('[POL-3] each matcher shows the claim it looked at', () => {
  const matchers: Policy['matchers'] = [
    { path: 'department', operator: 'equals', value: 'sales' },
    { path: 'team', operator: 'not_equals', value: 'x' },
    { path: 'roles', operator: 'contains', value: 'admin' },
  ];
  expect(explain({ matchers }, { department: 'sales', roles: ['user'] })?.matchers).toEqual([
    { matcher: matchers[0], holds: true, reason: 'the claim is "sales", which fits' },
    { matcher: matchers[1], holds: false, reason: 'the claim is missing' },
    { matcher: matchers[2], holds: false, reason: 'the claim is ["user"], which does not fit' },
  ]);
});

test('[POL-3] a long claim is shown in part', () => {
  const reason = explain({}, { sub: 'x'.repeat(10_000) })?.matchers[0]?.reason ?? '';
  expect(reason).toContain('…, which fits');
  expect(reason.length).toBeLessThan(300);
});
