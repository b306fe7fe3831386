import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import { replaceRanges } from '../../src/secrets/covered-ranges.ts';
import { createRedactor } from '../../src/secrets/redactor.ts';
import { createTextMatcher } from '../../src/secrets/text-matcher.ts';

function redactorOf(...values: string[]) {
  const redactor = createRedactor();
  for (const value of values) redactor.add(value);
  return redactor;
}

test.each([
  ['in the middle', ['hunter2'], 'my hunter2 is', 'my *** is'],
  ['several times', ['hunter2'], 'hunter2, hunter2', '***, ***'],
  ['the longest of two', ['hunter2', 'hunter2-long'], 'a hunter2-long b hunter2', 'a *** b ***'],
  ['two that overlap, both whole', ['abcdef', 'defghi'], 'xabcdefghix', 'x***x'],
  ['one inside another', ['cdef', 'abcdefgh'], 'xabcdefghx cdef', 'x***x ***'],
  ['after a false start', ['aaab'], 'aaaaab', 'aa***'],
  ['alone', ['hunter2'], 'hunter2', '***'],
  ['not in part', ['hunter2'], 'hunter hunte2', 'hunter hunte2'],
  ['not when it is too short to be told apart', ['abc'], 'abc', 'abc'],
  ['with a line break at its end that is not printed', ['hunter2\n'], 'a hunter2 b', 'a *** b'],
  ['each line of a key', ['-----BEGIN-----\nMIIEvQIBADANBgkqhkiG\n-----END-----'], 'line MIIEvQIBADANBgkqhkiG', 'line ***'],
  ['letters outside the first plane', ['🗝️🗝️🗝️'], 'a 🗝️🗝️🗝️ b', 'a *** b'],
  ['where nothing is known', [], 'hunter2', 'hunter2'],
])('[ENV-4] a secret is removed: %s', (_what, values, text, expected) => {
  expect(redactorOf(...values).redact(text)).toBe(expected);
});

const awkward = 'pä"ss/w\\o+rd\t&é=1?';
test.each([
  ['JSON', JSON.stringify(awkward)],
  ['JSON in JSON', JSON.stringify(JSON.stringify(awkward))],
  ['JSON of ASCII only', '"p\\u00e4\\"ss/w\\\\o+rd\\t&\\u00e9=1?"'],
  ['JSON with slashes escaped', '"pä\\"ss\\/w\\\\o+rd\\t&é=1?"'],
  ['an address', `https://x.test/?q=${encodeURIComponent(awkward)}`],
  ['an address in small letters', encodeURIComponent(awkward).replaceAll(/%../g, (code) => code.toLowerCase())],
  ['a form', new URLSearchParams({ q: awkward }).toString()],
  ['base64', Buffer.from(awkward).toString('base64')],
  ['base64 for addresses', Buffer.from(awkward).toString('base64url')],
  ['an address within an address', encodeURIComponent(encodeURIComponent(awkward))],
  [
    'an address within an address, in small letters',
    encodeURIComponent(encodeURIComponent(awkward).replaceAll(/%../g, (code) => code.toLowerCase())),
  ],
  ['hex', Buffer.from(`before ${awkward}`).toString('hex')],
  ['hex in capitals', Buffer.from(awkward).toString('hex').toUpperCase()],
])('[ENV-4] a secret is found as %s', (_form, text) => {
  const shown = redactorOf(awkward).redact(text);
  expect(shown).toContain('***');
  for (const piece of ['ss', 'rd', 'c3', 'cm']) expect(shown).not.toContain(piece);
});

test.each(['', 'a', 'ab', 'abc', 'user:', 'token='])('[ENV-4] a secret is found in base64 of something longer, after %j', (before) => {
  const secret = 'correct-horse-battery';
  const shown = redactorOf(secret).redact(Buffer.from(`${before}${secret}:after`).toString('base64'));
  expect(shown).toContain('***');
  expect(Buffer.from(shown.replace('***', ''), 'base64').toString('latin1')).not.toMatch(/orrect|horse|batter/);
});

describe('[ENV-4] a secret that is wrapped over lines', () => {
  const secret = randomBytes(90).toString('base64url');
  const wrap = (text: string, width: number, end: string) => text.replaceAll(new RegExp(`.{${width}}`, 'g'), (line) => line + end);

  test.each([
    ['base64', 'base64'],
    ['base64url', 'base64url'],
    ['hex', 'hex'],
    ['its own letters', 'latin1'],
  ] as const)('in %s is found at every alignment, with every kind of line break, and nothing around it is lost', (_form, encoding) => {
    const redactor = redactorOf(secret);
    for (const before of ['', 'a', 'ab', 'user:', 'x'.repeat(40)]) {
      const encoded = Buffer.from(`${before}${secret}!`).toString(encoding);
      for (const width of [7, 64, 76]) {
        for (const end of ['\n', '\r\n', '\n    ', '\\n']) {
          const shown = redactor.redact(`line one${end}${wrap(encoded, width, end)}${end}the end`);
          expect(shown).toContain('***');
          expect(shown.startsWith(`line one${end}`)).toBe(true);
          expect(shown.endsWith('the end')).toBe(true);
          // At most the letters that it shares with what stands around it are left.
          expect(shown.replaceAll(/\s|\\n/g, '').length).toBeLessThan(Buffer.from(before).toString(encoding).length + 30);
        }
      }
    }
  });

  test('in base64 is also found line by line, as a log is read', () => {
    const redactor = redactorOf(secret);
    for (const width of [64, 76]) {
      const [first = '', second = ''] = wrap(Buffer.from(`${secret}\n`).toString('base64'), width, '\n').split('\n');
      expect([redactor.redact(first), redactor.redact(second).startsWith('***')]).toEqual(['***', true]);
    }
  });

  test('is not found in unrelated lines', () => {
    expect(redactorOf('hunter2', 'abcd').redact('hun\nter2 ab\ncd')).toBe('hun\nter2 ab\ncd');
  });
});

describe('[ENV-4] a secret that spans two texts', () => {
  test.each([
    [
      ['my hun', 'ter2 is'],
      ['my ***', ' is'],
    ],
    [
      ['hun', 'te', 'r2'],
      ['***', '', ''],
    ],
    [
      ['hunter2 hunt', 'er2 hunter2'],
      ['*** ***', ' ***'],
    ],
    [
      ['a', '', 'b'],
      ['a', '', 'b'],
    ],
  ])('is removed from both: %j', (texts, expected) => {
    expect(redactorOf('hunter2').redactTexts(texts)).toEqual(expected);
  });
});

describe('[SEC-1] a caller who guesses a secret', () => {
  const redactor = redactorOf('hunter2', 'correct-horse-battery');

  test.each<[string, Json]>([
    ['in a text', { text: 'is it hunter1, hunter2 or hunter3?' }],
    ['in base64', { text: Buffer.from('hunter2').toString('base64') }],
    ['in pieces', { left: 'hun', right: ['ter2'] }],
    ['as the name of a field', { hunter2: 1 }],
  ])('%s gets the text back as it was sent, in every form, and learns nothing', (_how, given) => {
    const except = redactor.except(given);
    for (const text of ['hunter1 hunter2 hunter3', Buffer.from('hunter2').toString('hex')]) expect(except.redact(text)).toBe(text);
    expect(except.redact('correct-horse-battery')).toBe('***');
    expect(except.redactJson({ a: 'hunter2', b: 'correct-horse-battery' })).toEqual({ a: 'hunter2', b: '***' });
  });

  test('wrongly gets nothing but ***', () => {
    expect(redactor.except({ text: 'hunter' }).redact('hunter2')).toBe('***');
  });
});

describe('[ENV-4] redacted JSON', () => {
  const redactor = redactorOf('hunter2', '12345678');

  test.each([
    ['texts at any depth, and names of fields', { a: ['x hunter2', { hunter2: 'y' }], n: 1 }, { a: ['x ***', { '***': 'y' }], n: 1 }],
    ['a number that is a secret as a whole', [12_345_678, 123_456_789], ['***', 123_456_789]],
    ['a text alone', 'hunter2', '***'],
  ] as [string, Json, Json][])('loses %s', (_what, json, expected) => {
    expect(redactor.redactJson(json)).toEqual(expected);
  });

  test('without a secret in it is the very same value', () => {
    const json: Json = { a: [1, 'x', null, true, { b: {} }] };
    expect(redactor.redactJson(json)).toBe(json);
    expect(createRedactor().redactJson(json)).toBe(json);
  });

  test('leaves its original unchanged', () => {
    const json: Json = { a: ['hunter2'] };
    redactor.redactJson(json);
    expect(json).toEqual({ a: ['hunter2'] });
  });

  test('nested deeper than the stack loses its secrets too', () => {
    const depth = 200_000;
    let json = redactor.redactJson(JSON.parse(`${'['.repeat(depth)}"hunter2"${']'.repeat(depth)}`) as Json);
    while (Array.isArray(json)) json = json[0] ?? null;
    expect(json).toBe('***');
  });

  test('with a field named __proto__ keeps that field', () => {
    const copy = redactor.redactJson(JSON.parse('{"__proto__": {"polluted": "hunter2"}}') as Json);
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":"***"}}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });
});

describe('[ENV-4] the redactor of one source', () => {
  test('looks only for its own values, and the general one for all of them', () => {
    const redactor = redactorOf('shared-1');
    redactor.forSource('a').add('value-of-a');
    redactor.forSource('b').add('value-of-b');
    const text = 'shared-1 value-of-a value-of-b';
    expect(redactor.forSource('a').redact(text)).toBe('shared-1 *** value-of-b');
    expect(redactor.redact(text)).toBe('*** *** ***');
    redactor.forgetSource('a');
    expect(redactor.redact(text)).toBe('*** value-of-a ***');
    expect(redactor.forSource('a').redact(text)).toBe(text);
  });

  test('finds a value that comes later from then on', () => {
    const redactor = createRedactor();
    expect(redactor.redact('hunter2')).toBe('hunter2');
    redactor.forSource('a').add('hunter2');
    expect(redactor.redact('hunter2')).toBe('***');
  });
});

test('[ENV-4] the matcher covers exactly what a search for each pattern by itself covers', () => {
  // Few letters, so that patterns overlap, contain and begin each other as often as can be.
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'ä'), maxLength: 60 });
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', 'ä'), minLength: 4, maxLength: 8 });
  fc.assert(
    fc.property(text, fc.uniqueArray(pattern, { maxLength: 12 }), (text, patterns) => {
      const covered = Array.from({ length: text.length }, () => false);
      for (const one of patterns) {
        for (let at = text.indexOf(one); at >= 0; at = text.indexOf(one, at + 1)) covered.fill(true, at, at + one.length);
      }
      const kept = text
        .split('')
        .filter((_letter, index) => !covered[index])
        .join('');
      expect(replaceRanges(text, createTextMatcher(patterns).coveredIn(text), '')).toBe(kept);
    }),
    { numRuns: 2000 },
  );
});

test('[ENV-4] a large text that nearly matches everywhere, and a thousand values, take no long time', () => {
  // Were it not linear, these would take hours: every place of the text begins a value that fails at its end.
  const periodic = `${'a'.repeat(60_000)}b`;
  const values = Array.from({ length: 1000 }, () => `ghp_${randomBytes(20).toString('hex')}`);
  const redactor = redactorOf(periodic, ...values);
  const text = 'a'.repeat(1_000_000) + 'ghp_'.repeat(250_000) + (values[999] ?? '');
  expect(redactor.redact(text)).toBe(`${text.slice(0, -(values[999] ?? '').length)}***`);
});
