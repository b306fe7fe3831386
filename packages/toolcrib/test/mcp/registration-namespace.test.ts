import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkNamespace, formerNamespaceFromName, namespaceFromName } from '../../src/sources/registration/namespace.ts';

test.each([
  ['GitHub MCP', 'github-mcp'],
  ['  Everything  ', 'everything'],
  ['Café Überraschung', 'cafe-uberraschung'],
  ['Straße Łódź Ærø', 'strasse-lodz-aero'],
  ['a__b..c', 'a__b-c'],
  ['my_server', 'my_server'],
  ['_private_', 'private_'],
  ['My Server_2', 'my-server_2'],
  ['io.github.owner/server', 'io-github-owner-server'],
  ['ﬁle ①', 'file-1'],
  ['x'.repeat(40), 'x'.repeat(32)],
  [`${'x'.repeat(31)} yyy`, 'x'.repeat(31)],
  ['---', expect.stringMatching(/^source-[0-9a-f]{8}$/)],
  ['北京', expect.stringMatching(/^source-[0-9a-f]{8}$/)],
])('[NAME-2] the name %j gives the namespace %j', (name, namespace) => {
  expect(namespaceFromName(name)).toEqual(namespace);
});

test('[NAME-2] any name gives a legal namespace, always the same, which gives itself', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 80 }), fc.string({ maxLength: 80 })), (name) => {
      const namespace = namespaceFromName(name);
      expect(namespace).toMatch(/^[a-z0-9][a-z0-9_-]{0,31}$/);
      expect(checkNamespace(namespace)).toBe(namespace);
      expect(namespaceFromName(name)).toBe(namespace);
      expect(namespaceFromName(namespace)).toBe(namespace);
    }),
    { numRuns: 2000 },
  );
});

test.each(['a', 'a_b', '0', 'a-_-', 'a'.repeat(32)])('[NAME-2] the given namespace %j is used as it is', (namespace) => {
  expect(checkNamespace(namespace)).toBe(namespace);
});

test.each([
  ['my_server', 'my-server'],
  ['a__b..c', 'a-b-c'],
  ['_private_', 'private'],
  ['GitHub MCP', 'github-mcp'],
])('[NAME-2] the name %j used to give %j, which workflows still find', (name, namespace) => {
  expect(formerNamespaceFromName(name)).toBe(namespace);
});

test('[NAME-2] two names without a Latin letter get two namespaces', () => {
  expect(namespaceFromName('北京')).not.toBe(namespaceFromName('東京'));
});

test.each(['', 'A', 'a b', '_a', '-a', 'a.b', 'a:b', 'ü', 'a'.repeat(33), 'a\n'])(
  '[NAME-2] the given namespace %j is refused',
  (namespace) => {
    expect(() => checkNamespace(namespace)).toThrow(/lower-case letters, digits, _ and -, and begins with/);
  },
);
