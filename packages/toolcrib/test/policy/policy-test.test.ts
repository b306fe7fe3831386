import { expect, test } from 'vitest';
import { runPolicyTests, type PolicyTest } from '../../src/policy/policy-test.ts';
import { compileRules } from '../../src/policy/rules.ts';
import { sampleGroup, samplePolicy, sampleTool } from '../fixtures/samples.ts';

const tools = [
  sampleTool({ name: 'read_file' }),
  sampleTool({ name: 'write_file' }),
  sampleTool({ name: 'read_waiting', state: 'quarantined' }),
  sampleTool({ namespace: 'mail', name: 'read_mail' }),
];
const groups = [sampleGroup({ id: 'readers', selectors: [{ name: 'read_*' }] })];
const policies = [samplePolicy({ id: 'staff', matchers: [{ path: 'role', operator: 'equals', value: 'staff' }], groups: ['readers'] })];
const rules = compileRules({ policies, groups, revision: 0, warn: expect.unreachable });
const staff = { role: 'staff' };

const cases: [Partial<PolicyTest>, outcome: string, reasons: string[]][] = [
  [{ claims: staff, can: ['files:read_file'], cannot: ['files:write_file'] }, 'passed', []],
  [{ claims: staff, can: ['files:read_f*', 'mail:*'] }, 'passed', []],
  [{ cannot: ['*'] }, 'passed', []],
  [{ can: ['files:read_file'] }, 'failed', ['can files:read_file: no policy grants it']],
  [{ claims: staff, can: ['files:*_file'] }, 'failed', ['can files:write_file: no policy grants it']],
  [{ claims: staff, can: ['files:read_waiting'] }, 'failed', ['can files:read_waiting: the tool is quarantined']],
  [{ claims: staff, can: ['files:gone'] }, 'failed', ['can files:gone: there is no such tool']],
  [{ claims: staff, cannot: ['files:gone', 'files:read_waiting'] }, 'passed', []],
  [
    { claims: staff, cannot: ['*:read_*'] },
    'failed',
    ['cannot files:read_file: it is granted by staff', 'cannot mail:read_mail: it is granted by staff'],
  ],
  [{ claims: staff, can: ['new:thing'], cannot: ['new:other'] }, 'unknown', ['the tools of new are not known yet']],
  [{ claims: staff, can: ['*:read_mail'] }, 'unknown', ['the tools of new are not known yet']],
  [{ claims: staff, cannot: ['*:write_*'] }, 'unknown', ['the tools of new are not known yet']],
  // An unknown part does not excuse a known failure.
  [{ claims: staff, can: ['new:thing', 'files:write_file'] }, 'failed', ['can files:write_file: no policy grants it']],
  [{}, 'passed', []],
];
test.each(cases)('[POL-3] a policy test has the right outcome: %j', (given, outcome, reasons) => {
  const asked = { name: 'a', claims: {}, can: [], cannot: [], ...given };
  expect(runPolicyTests([asked], { rules, tools, undiscovered: ['new'] })).toEqual([{ name: 'a', outcome, reasons }]);
});
