import { assert, json, nat, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { jsonFault } from '../../src/model/json-fault.ts';

test.each([
  ['', 'line 1, column 1: a value is expected, and the text ends'],
  ["{'a': 1}", 'line 1, column 2: a name in double quotes or } is expected, not "\'"'],
  ['{"a": 1,}', 'line 1, column 9: a name in double quotes is expected, not "}"'],
  ['{"a" 1}', 'line 1, column 6: a colon is expected, not "1"'],
  ['{"a": b}', 'line 1, column 7: a value is expected, not "b"'],
  ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: a comma or } is expected, not "\\""'],
  ['[1, 2', 'line 1, column 6: a comma or ] is expected, and the text ends'],
  ['[1,\r\n  2 3]', 'line 2, column 5: a comma or ] is expected, not "3"'],
  ['[] []', 'line 1, column 4: nothing more is expected, not "["'],
  ['["a]', 'line 1, column 2: the text that begins here has no closing quote'],
  ['["a\nb"]', 'line 1, column 4: a line break or control character inside a text is written as \\n'],
  ['["C:\\data"]', 'line 1, column 5: a backslash inside a text is written twice'],
  ['01', 'line 1, column 2: nothing more is expected, not "1"'],
])('[CLI-1] the mistake in %j is at %s', (text, fault) => {
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  expect(jsonFault(text)).toBe(fault);
});

test('[CLI-1] a fault is found exactly where JSON.parse refuses a text', () => {
  const agrees = (text: string) => {
    let parses = true;
    try {
      JSON.parse(text);
    } catch {
      parses = false;
    }
    expect(jsonFault(text) === undefined).toBe(parses);
  };
  assert(
    property(json(), nat(), string({ maxLength: 2 }), (text, place, other) => {
      agrees(text);
      const at = place % (text.length + 1);
      agrees(text.slice(0, at) + other + text.slice(at + 1));
    }),
  );
});
