import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/model/json.ts';
import { matcherSchema, type Matcher } from '../../src/model/policy.ts';
import { compileMatcher } from '../../src/policy/matcher.ts';

function holds(matcher: unknown, claims: JsonObject): boolean {
  return compileMatcher(matcherSchema.parse(matcher)).holds(claims);
}

const operators = ['equals', 'not_equals', 'contains', 'not_contains', 'in', 'not_in', 'exists', 'matches'] as const;
const matcherFor: Record<(typeof operators)[number], Matcher> = {
  equals: { path: 'team', operator: 'equals', value: 'ops' },
  not_equals: { path: 'team', operator: 'not_equals', value: 'ops' },
  contains: { path: 'team', operator: 'contains', value: 'ops' },
  not_contains: { path: 'team', operator: 'not_contains', value: 'ops' },
  in: { path: 'team', operator: 'in', value: ['ops', 'root'] },
  not_in: { path: 'team', operator: 'not_in', value: ['ops', 'root'] },
  exists: { path: 'team', operator: 'exists' },
  matches: { path: 'team', operator: 'matches', value: 'ops' },
};

/** One letter per operator, in the order above. */
const table: [string, JsonObject, string][] = [
  ['the very text', { team: 'ops' }, 'T F T F T F T T'],
  ['another text', { team: 'dev' }, 'F T F T F T T F'],
  ['empty text', { team: '' }, 'F T F T F T T F'],
  ['words, one of them it', { team: 'dev ops' }, 'F T T F F T T F'],
  ['words, none of them it', { team: 'dev devops' }, 'F T F T F T T F'],
  ['text that has it inside', { team: 'not-ops' }, 'F T F T F T T F'],
  ['text that begins with it', { team: 'ops-readonly' }, 'F T F T F T T F'],
  ['it and a line break', { team: 'ops\n' }, 'F T F T F T T F'],
  ['a number', { team: 7 }, 'F T F F F T T F'],
  ['true', { team: true }, 'F T F F F T T F'],
  ['false', { team: false }, 'F T F F F T T F'],
  ['a list with it', { team: ['dev', 'ops'] }, 'F F T F T F T T'],
  ['a list of it alone', { team: ['ops'] }, 'F F T F T F T T'],
  ['a list without it', { team: ['dev', 7] }, 'F T F T F T T F'],
  ['an empty list', { team: [] }, 'F T F T F T T F'],
  ['a list of words', { team: ['dev ops'] }, 'F T F T F T T F'],
  ['a list in a list', { team: [['ops']] }, 'F T F T F T T F'],
  ['a list of objects', { team: [{ name: 'ops' }] }, 'F T F T F T T F'],
  ['a list of null', { team: [null] }, 'F T F T F T T F'],
  ['an object', { team: { ops: true } }, 'F F F F F F T F'],
  ['null', { team: null }, 'F F F F F F F F'],
  ['a missing claim', {}, 'F F F F F F F F'],
];

describe.each(table)('with %s', (_kind, claims, letters) => {
  test.each(operators.map((operator, index) => [operator, letters.split(' ')[index] === 'T'] as const))(
    '[POL-1] [POL-2] %s holds: %s',
    (operator, expected) => {
      expect(holds(matcherFor[operator], claims)).toBe(expected);
    },
  );
});

test.each<[string, string, Json, Json, boolean]>([
  ['text is not a boolean', 'equals', 'true', true, false],
  ['a boolean is a boolean', 'equals', true, true, true],
  ['text is not a number', 'equals', '7', 7, false],
  ['a number is a number', 'equals', 7, 7, true],
  ['zero is not false', 'equals', false, 0, false],
  ['zero is not empty text', 'equals', '', 0, false],
  ['one is not true', 'equals', true, 1, false],
  ['a list never equals its only element', 'equals', 'ops', ['ops'], false],
  ['no list turned into text', 'equals', 'ops,dev', ['ops', 'dev'], false],
  ['an element by type', 'contains', 7, ['7', 8], false],
  ['an element that is a number', 'contains', 7, [7], true],
  ['the words of a text are texts', 'contains', 7, '7 8', false],
  ['no word is empty', 'contains', '', 'a  b', false],
  ['no word of an empty text', 'contains', '', '', false],
  ['two words are not one word', 'contains', 'a b', 'a b', false],
  ['case counts', 'contains', 'Ops', 'ops', false],
  ['in: no list written with commas', 'in', ['ops,dev'], ['ops'], false],
  ['in: any element', 'in', ['ops', 'dev'], ['qa', 'dev'], true],
  ['in: by type', 'in', ['1', 'true'], [1, true], false],
  ['not_in: one element is enough to fail', 'not_in', ['banned'], ['ok', 'banned'], false],
  ['not_equals: one element is enough to fail', 'not_equals', 'banned', ['ok', 'banned'], false],
  ['not_contains: a word is enough to fail', 'not_contains', 'banned', 'ok banned', false],
  ['not_equals: by type', 'not_equals', 'true', true, true],
  ['matches: not a beginning', 'matches', 'admin', 'administrator-readonly', false],
  ['matches: not an end', 'matches', 'admin', 'not-admin', false],
  ['matches: the longer alternative is found', 'matches', 'a|ab', 'ab', true],
  ['matches: anchors change nothing', 'matches', '^admin$', 'admin', true],
  ['matches: an anchor before a line break does not count', 'matches', '^admin$', 'admin\n', false],
  ['matches: several lines do not help', 'matches', '(?m)^admin$', 'guest\nadmin', false],
  ['matches: a dot is any character', 'matches', 'a.b', 'a\nb', true],
  ['matches: any element', 'matches', 'team-[a-z]+', ['x', 'team-ops'], true],
  ['matches: elements are not joined', 'matches', 'a,b', ['a', 'b'], false],
  ['matches: a number is not text', 'matches', '7', 7, false],
])('[POL-2] values are typed: %s', (_why, operator, value, claim, expected) => {
  expect(holds({ path: 'claim', operator, value }, { claim })).toBe(expected);
});

test('[POL-2] claims with dots, slashes and inherited names are found only where they are', () => {
  const claims = JSON.parse('{"https://acme.io/role": "editor", "__proto__": "own"}') as JsonObject;
  expect(holds({ path: ['https://acme.io/role'], operator: 'equals', value: 'editor' }, claims)).toBe(true);
  expect(holds({ path: '/https:~1~1acme.io~1role', operator: 'equals', value: 'editor' }, claims)).toBe(true);
  expect(holds({ path: 'https://acme.io/role', operator: 'exists' }, claims)).toBe(false);
  expect(holds({ path: '__proto__', operator: 'equals', value: 'own' }, claims)).toBe(true);
  expect(holds({ path: '__proto__', operator: 'exists' }, {})).toBe(false);
  expect(holds({ path: 'constructor', operator: 'exists' }, {})).toBe(false);
  expect(holds({ path: 'constructor.name', operator: 'not_equals', value: 'x' }, {})).toBe(false);
});

test('[POL-2] an infinite number is a missing claim, as null is', () => {
  const claims = JSON.parse('{"level": 1e400}') as JsonObject;
  expect(holds({ path: 'level', operator: 'exists' }, claims)).toBe(false);
  expect(holds({ path: 'level', operator: 'not_equals', value: 1 }, claims)).toBe(false);
});

test.each<[string, unknown]>([
  ['an unknown operator', { path: 'a', operator: 'like', value: 'x' }],
  ['no value', { path: 'a', operator: 'equals' }],
  ['a value of null', { path: 'a', operator: 'equals', value: null }],
  ['a list for equals', { path: 'a', operator: 'equals', value: ['x'] }],
  ['text for in', { path: 'a', operator: 'in', value: 'ops,dev' }],
  ['an empty list for in', { path: 'a', operator: 'in', value: [] }],
  ['exists turned round', { path: 'a', operator: 'exists', value: false }],
  ['an empty path', { path: '', operator: 'exists' }],
  ['no segments', { path: [], operator: 'exists' }],
  ['an unknown field', { path: 'a', operator: 'exists', negate: true }],
  ['an endless expression', { path: 'a', operator: 'matches', value: 'a'.repeat(1025) }],
])('[POL-1] %s is not a matcher', (_why, matcher) => {
  expect(matcherSchema.safeParse(matcher).success).toBe(false);
});

test.each(['(', 'a{2,1}', '(?=a)', String.raw`(a)\1`, '(a{1000}){1000}'])('[POL-2] the expression %s does not compile', (value) => {
  expect(() => compileMatcher({ path: 'a', operator: 'matches', value })).toThrow('error parsing regexp');
});
