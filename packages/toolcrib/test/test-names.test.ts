import { describe, expect, test } from 'vitest';
import { packageFiles } from './package-files.ts';

const files = packageFiles('test').filter(({ file }) => file.endsWith('.test.ts'));

/** A text that is followed by a function, after `test(`, `describe(` or `test.each(…)(`. */
const named = /^( *)(test|describe|\]|\)).*?\(\s*(['"`])((?:\\.|(?!\3).)+)\3,\s*(?:\{.*\},\s*)?(?:async\b|\()/gm;
/** Names that are written with a capital letter wherever they stand. */
const properNames = /^(?:[A-Z]+[a-z]*[^a-z'’\s]|Anthropic|Claude|Codex|Gemini|[A-Z]+\b)/;

const names = files.flatMap(({ file, text }) =>
  [...text.matchAll(named)].map(([, indent, word, , name = '']) => ({
    file,
    standsAlone: indent === '' && word !== 'describe',
    name: name.replace(/^(?:\[[A-Z]+-[A-Z]*\d+\] )+/, ''),
  })),
);

/** A machine cannot tell a good sentence; it can tell some that are none. */
describe('the name of a test', () => {
  test('is found in every file by the expression above', () => {
    expect(names.length).toBeGreaterThan(2000);
    const filesWithNames = new Set(names.map(({ file }) => file));
    expect(files.filter(({ file }) => !filesWithNames.has(file)).map(({ file }) => file)).toEqual([]);
  });

  test('begins with a small letter, unless the word is always written with a capital one', () => {
    expect(names.filter(({ name }) => /^[A-Z]/.test(name) && !properNames.test(name))).toEqual([]);
  });

  test('does not end with a full stop', () => {
    expect(names.filter(({ name }) => name.endsWith('.'))).toEqual([]);
  });

  test('names its subject instead of beginning with "what" or "whoever"', () => {
    expect(names.filter(({ name }) => /^(?:what|whatever|who|whoever|which)\b/.test(name))).toEqual([]);
  });

  test('has at least three words where no `describe` gives it a subject', () => {
    expect(names.filter(({ standsAlone, name }) => standsAlone && name.split(' ').length < 3)).toEqual([]);
  });
});
