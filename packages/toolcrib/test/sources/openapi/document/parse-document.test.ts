import { describe, expect, test } from 'vitest';
import { parseDocument } from '../../../../src/sources/documents/parse-document.ts';

describe('[OAS-1] the text of a document', () => {
  test.each<[string, string, unknown]>([
    ['JSON', '{"a": [1, "x"]}', { a: [1, 'x'] }],
    ['JSON with a byte order mark', '\uFEFF{"a": 1}', { a: 1 }],
    ['YAML', 'a:\n  - 1\n  - x\n', { a: [1, 'x'] }],
    ['YAML that begins like JSON', '{a: [1, x], # comment\n b: 2}', { a: [1, 'x'], b: 2 }],
    ['anchors and merge keys', 'x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3\n', { x: { a: 1, b: 2 }, y: { a: 1, b: 3 } }],
    ['numbers as keys', 'responses:\n  200: ok\n', { responses: { 200: 'ok' } }],
    ['words that were truth values once', 'a: on\nb: no\n', { a: 'on', b: 'no' }],
    ['dates', 'a: 2024-01-01\n', { a: '2024-01-01' }],
  ])('may be JSON or YAML: %s', (_, text, expected) => {
    expect(parseDocument(text)).toEqual({ value: expected, warnings: [] });
  });

  test('with a key twice gives a warning with its line', () => {
    const { value, warnings } = parseDocument('a: 1\nb: 2\na: 3\n');
    expect(value).toEqual({ a: 3, b: 2 });
    expect(warnings).toEqual(['The key "a" is repeated in line 3; the last one counts']);
  });

  const nested = (count: number) => '['.repeat(count) + ']'.repeat(count);
  const laughs = ['a0: &a0 [x,x,x,x,x,x,x,x,x]', ...Array.from({ length: 20 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`)];
  test.each<[string, string, RegExp]>([
    ['broken', 'a: [1, 2\nb: }', /neither JSON nor YAML: line \d+, column \d+/],
    ['a page', '<!doctype html><html></html>', /HTML or XML/],
    ['deeply nested JSON', nested(100_000), /nested deeper than 200 levels/],
    ['deeply nested YAML', `a: ${nested(1000)} # comment`, /nested deeper than 200 levels/],
    ['a billion laughs', laughs.join('\n'), /aliases/],
    ['an alias of nothing', 'a: *nothing', /alias/i],
    ['in a circle', 'a: &a\n  b: *a\n', /nested deeper|alias/],
    ['too large', ' '.repeat(33 * 1024 * 1024), /larger than 32 MiB/],
  ])('that is %s is refused with the reason', (_, text, reason) => {
    expect(() => parseDocument(text)).toThrow(reason);
  });
});
