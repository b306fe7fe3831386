import { afterAll, expect, test } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import { failureOf, openBuiltins, structuredOf, textOf } from './builtin-caller.ts';

const builtins = openBuiltins();
afterAll(() => builtins.close());

const shop: Json = { items: [{ name: 'pen', price: 2 }, { name: 'desk', price: 120 }, { name: 'lamp' }], 'a b': { "it's": null } };

test.each<[Json, string, [string, Json][]]>([
  [shop, '$.items[0].name', [["$['items'][0]['name']", 'pen']]],
  [shop, '$.items[?@.price < 10].name', [["$['items'][0]['name']", 'pen']]],
  [
    shop,
    '$..price',
    [
      ["$['items'][0]['price']", 2],
      ["$['items'][1]['price']", 120],
    ],
  ],
  [shop, '$.items[-1:].name', [["$['items'][2]['name']", 'lamp']]],
  [shop, '$["a b"]["it\'s"]', [["$['a b']['it\\'s']", null]]],
  [shop, '$.items[?match(@.name, "p.n")].price', [["$['items'][0]['price']", 2]]],
  [shop, '$[?count(@.*) == 3][2]', [["$['items'][2]", { name: 'lamp' }]]],
  [shop, '$.nothing', []],
  [shop, '$.constructor', []],
  [[1, [2]], '$[1][0]', [['$[1][0]', 2]]],
  ['text', '$', [['$', 'text']]],
  [null, '$', [['$', null]]],
  [JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}'), '$.__proto__.a', [["$['__proto__']['a']", 1]]],
  [JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}'), '$.constructor', [["$['constructor']", 2]]],
])('[BI-1] json_query of %j with %s finds the right values', async (data, query, expected) => {
  const output = await builtins.call('json_query', { data, query });
  expect(structuredOf(output)).toEqual({ matches: expected.map(([path, value]) => ({ path, value })), truncated: false });
  expect(textOf(output)).toBe(expected.map(([path, value]) => `${path}: ${JSON.stringify(value)}`).join('\n') || 'No match.');
});

test.each([
  'items',
  '$.',
  '$[',
  '$[?@.a ==]',
  '$[?nope(@)]',
  '$[?length(@.a)]',
  '$[9999999999999999999]',
  '('.repeat(2000),
  `$[?${'('.repeat(1990)}`,
])('[BI-1] json_query explains that %.20s is not a query', async (query) => {
  expect(failureOf(await builtins.call('json_query', { data: {}, query }))).toContain('The query is not valid JSONPath (RFC 9535)');
});

test('[SEC-1] json_query refuses data that would take too much memory, before it is parsed', async () => {
  const data = Array.from({ length: 400_000 }, () => ({ 34: 0 }));
  expect(failureOf(await builtins.call('json_query', { data, query: '$[0]' }))).toContain('more than 250000 objects and lists');
});

test('[BI-1] json_query returns at most a thousand matches, and says so', async () => {
  const output = await builtins.call('json_query', { data: Array(5000).fill(1), query: '$..*' });
  const { matches, truncated } = structuredOf(output) as { matches: Json[]; truncated: boolean };
  expect([matches.length, truncated]).toEqual([1000, true]);
  expect(textOf(output)).toContain('There are more matches than these 1000.');
});

test('[BI-1] json_query cuts a small value that multiplies instead of computing all of it', async () => {
  const data = Array.from({ length: 300 }, () => [1, [2, [3]]]);
  expect(structuredOf(await builtins.call('json_query', { data, query: '$..*..*..*' }))).toMatchObject({ truncated: true });
});

test('[BI-1] json_query keeps its answer below the limit, and asks for less if one match exceeds it', async () => {
  const data = { small: 1, large: Array(3).fill('x'.repeat(90_000)) };
  const output = await builtins.call('json_query', { data, query: '$.large[*]' });
  expect(structuredOf(output)).toMatchObject({ matches: [{ path: "$['large'][0]" }, { path: "$['large'][1]" }], truncated: true });
  expect(failureOf(await builtins.call('json_query', { data, query: '$.large' }))).toContain(
    'The first match is larger than 200000 characters',
  );
});

test.each([201, 5000, 100_000])('[BI-1] json_query refuses data nested %d levels deep', async (depth) => {
  const data: Json = JSON.parse('['.repeat(depth) + ']'.repeat(depth));
  expect(failureOf(await builtins.call('json_query', { data, query: '$..*' }))).toMatch(/nested (deeper than 200 levels|too deeply)/);
});

test('[BI-1] json_query accepts data nested 200 levels deep, and ignores brackets within strings', async () => {
  const data: Json = JSON.parse('['.repeat(200) + ']'.repeat(200));
  expect(structuredOf(await builtins.call('json_query', { data, query: '$..*' }))).toMatchObject({ truncated: false });
  const text = ['['.repeat(500), '\\"{['.repeat(300)];
  expect(structuredOf(await builtins.call('json_query', { data: text, query: '$[1]' }))).toMatchObject({ matches: [{ value: text[1] }] });
});

test('[BI-1] json_query refuses data that is too large', async () => {
  expect(failureOf(await builtins.call('json_query', { data: 'x'.repeat(5_000_000), query: '$' }))).toContain(
    'longer than 5000000 characters',
  );
});
