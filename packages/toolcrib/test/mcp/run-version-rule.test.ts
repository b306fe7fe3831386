import { expect, test } from 'vitest';
import { versionRule } from '../../src/model/version-rule.ts';

test.each<[rule: string, fit: string[], misfit: string[]]>([
  ['*', ['1.2.3', '0.0.1-rc.1'], ['latest', '']],
  ['1.2.3', ['1.2.3', '1.2.3+build.5'], ['1.2.4', '1.2.3-rc.1', '1.2']],
  ['=1.2.3', ['1.2.3'], ['1.2.30']],
  ['==1.4', ['1.4', '1.4.0'], ['1.4.1']],
  ['==1.*', ['1.0', '1.99.3'], ['2.0', '0.9', '1.9rc1']],
  ['1.x', ['1.0.0', '1.9.9'], ['10.0.0']],
  ['^1.2', ['1.2.0', '1.99.0'], ['2.0.0', '1.1.9', '1.3.0-beta']],
  ['^0.2.3', ['0.2.3', '0.2.9'], ['0.3.0', '0.2.2']],
  ['^0.0.3', ['0.0.3'], ['0.0.4']],
  ['~1.2.3', ['1.2.3', '1.2.9'], ['1.3.0']],
  ['~1', ['1.9.0'], ['2.0.0']],
  ['~=1.4.2', ['1.4.2', '1.4.9'], ['1.5.0', '1.4.1']],
  ['~=1.4', ['1.4', '1.9'], ['2.0']],
  ['>=1.2 <2', ['1.2.0', '1.9.9'], ['2.0.0', '1.1.0']],
  ['>= 1.2, < 2', ['1.5.0'], ['2.0.0']],
  ['>1 <=1.5', ['1.0.1', '1.5'], ['1.0.0', '1.5.1']],
  ['>=1 !=1.5.0', ['1.4.0'], ['1.5.0']],
  ['1.0.0-rc.1', ['1.0.0-rc.1'], ['1.0.0', '1.0.0-rc.2']],
])('[SEC-2] the version rule %s accepts and rejects the right versions', (rule, fit, misfit) => {
  const holds = versionRule(rule);
  expect(fit.filter((version) => holds?.(version) !== true)).toEqual([]);
  expect(misfit.filter((version) => holds?.(version) === true)).toEqual([]);
});

test.each(['', 'latest', '^', '>=', '1.2 || 2', 'a.b', '^1.x.y'])('[SEC-2] %j is not a version rule', (rule) => {
  expect(versionRule(rule)).toBeUndefined();
});
