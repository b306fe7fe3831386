import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compilePattern } from '../../src/policy/pattern.ts';
import { compileSafeRegex, compileSearchRegex } from '../../src/policy/safe-regex.ts';
import type { Pattern } from '../../src/model/policy.ts';

test.each<[Pattern, string[], string[]]>([
  ['github', ['github'], ['', 'Github', 'github-2', 'my-github']],
  ['*', ['', 'x', 'a/b.c\nd'], []],
  ['**', ['', 'x'], []],
  ['git*', ['git', 'github'], ['gi', 'a-git', 'Git']],
  ['*-prod', ['-prod', 'db-prod'], ['prod', 'db-prod-2']],
  ['a*a', ['aa', 'aba', 'aaa'], ['a', 'ab', 'ba']],
  ['ab*ba', ['abba', 'ab-ba'], ['aba', 'ab', 'ba']],
  ['a*b*c', ['abc', 'a1b2c', 'abbc', 'abcbc'], ['acb', 'ac', 'ab', 'abcd']],
  ['*ab*ab*', ['abab', 'xabyabz'], ['ab', 'aab', 'ba']],
  ['/repos/*/issues', ['/repos/a/issues', '/repos/a/b/issues'], ['/repos/issues', '/repos/a/issues/1']],
  ['a.c', ['a.c'], ['abc']],
  ['a?[b]', ['a?[b]'], ['ab', 'axb']],
  [{ regex: 'get|list' }, ['get', 'list'], ['gett', 'a list', 'GET']],
  [{ regex: 'get_.*' }, ['get_', 'get_a\nb'], ['xget_', 'get']],
  [{ regex: '(?i)get' }, ['GET', 'get'], ['gets']],
  [{ regex: '' }, [''], ['a']],
])('[POL-4] the pattern %j matches %j and not %j', (pattern, yes, no) => {
  const matches = compilePattern(pattern);
  expect(yes.filter((input) => !matches(input))).toEqual([]);
  expect(no.filter((input) => matches(input))).toEqual([]);
});

test('[POL-4] a glob matches exactly what its expression would', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 8 });
  const inputs = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 12 });
  fc.assert(
    fc.property(letters, inputs, (glob, input) => {
      const expression = glob.replaceAll('.', String.raw`\.`).replaceAll('*', '[^]*');
      expect(compilePattern(glob)(input)).toBe(new RegExp(`^(?:${expression})$`).test(input));
    }),
    { numRuns: 2000 },
  );
});

const longText = 'a'.repeat(50_000);

test.each([
  ['nested repetition', '^(a+)+$'],
  ['the same alternative twice', '(a|a)*b'],
  ['anything, any number of times', '(.*)*x'],
  ['a thousand options', '((a?){500}){2}'],
  ['a long window that begins anywhere', String.raw`(?:\pL{500}\d?){2}$`],
  ['a hundred thousand instructions', String.raw`\pL{999}`.repeat(100)],
])('[POL-2] a hostile expression ends in time on a long text: %s', (_what, pattern) => {
  const whole = compileSafeRegex(pattern);
  const anywhere = compileSearchRegex(pattern);
  for (const input of [longText, `${longText}!`, longText.slice(0, 8192), `${longText.slice(0, 8191)}!`]) {
    expect(whole(input)).toBeTypeOf('boolean');
    expect(anywhere(input)).toBeTypeOf('boolean');
  }
});

test('[POL-4] a hostile glob ends in time on a long text', () => {
  expect(compilePattern(`${'*a'.repeat(250)}b`)(longText)).toBe(false);
  expect(compilePattern(`${'*a'.repeat(250)}*`)(longText)).toBe(true);
});

test('[POL-2] a text that is too long never matches, so it grants nothing', () => {
  expect(compileSafeRegex('a*')(longText.slice(0, 8192))).toBe(true);
  expect(compileSafeRegex('a*')(longText)).toBe(false);
});

test("a schema's pattern is searched anywhere, in a text of any length", () => {
  expect(compileSearchRegex('b')(`${longText}b`)).toBe(true);
  expect(compileSearchRegex('^(a+)+$')(longText)).toBe(true);
  expect(compileSearchRegex('^(a+)+$')(`${longText}!`)).toBe(false);
});

test.each(['(?=a)b', '(?<!a)b', String.raw`(a)\1`, '('])(
  "a schema's pattern that RE2 does not support (%s) accepts every text",
  (pattern) => {
    expect(compileSearchRegex(pattern)('anything')).toBe(true);
  },
);
