import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkNamespace, namespaceFromName } from '../../src/sources/registration/namespace.ts';

test.each([
  ['GitHub MCP', 'github-mcp'],
  ['  Everything  ', 'everything'],
  ['Café Überraschung', 'cafe-uberraschung'],
  ['Straße Łódź Ærø', 'strasse-lodz-aero'],
  ['a__b..c', 'a-b-c'],
  ['io.github.owner/server', 'io-github-owner-server'],
  ['ﬁle ①', 'file-1'],
  ['x'.repeat(40), 'x'.repeat(32)],
  [`${'x'.repeat(31)} yyy`, 'x'.repeat(31)],
  ['---', expect.stringMatching(/^source-[0-9a-f]{8}$/)],
  ['北京', expect.stringMatching(/^source-[0-9a-f]{8}$/)],
])('[NAME-2] the name %j gives the namespace %j', (name, namespace) => {
  expect(namespaceFromName(name)).toEqual(namespace);
});

test('[NAME-2] any name gives a legal namespace, always the same, which is its own', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 80 }), fc.string({ maxLength: 80 })), (name) => {
      const namespace = namespaceFromName(name);
      expect(namespace).toMatch(/^[a-z0-9-]{1,32}$/);
      expect(checkNamespace(namespace)).toBe(namespace);
      expect(namespaceFromName(name)).toBe(namespace);
      expect(namespaceFromName(namespace)).toBe(namespace);
    }),
    { numRuns: 2000 },
  );
});

test('[NAME-2] two names without a Latin letter get two namespaces', () => {
  expect(namespaceFromName('北京')).not.toBe(namespaceFromName('東京'));
});

test.each(['', 'A', 'a b', 'a_b', 'ü', 'a'.repeat(33), 'a\n'])('[NAME-2] the given namespace %j is refused', (namespace) => {
  expect(() => checkNamespace(namespace)).toThrow(/lower-case letters, digits and hyphens/);
});
