import { describe, expect, test } from 'vitest';
import { createSchemaWork, mostSizeHere, mostWorkHere } from '../../src/validation/schema-work.ts';
import { schemaSize, tooLarge } from '../../src/validation/schema-size.ts';
import type { Json, JsonObject, JsonSchema } from '../../src/model/json.ts';

const work = (schema: JsonSchema, value: Json, most = Infinity) => createSchemaWork(schema)(value, most);

/** `{"a":{"a":…}}` */
const nested = (levels: number, leaf: Json = 1): Json => JSON.parse('{"a":'.repeat(levels) + JSON.stringify(leaf) + '}'.repeat(levels));
const self = { $ref: '#' };
const many = (count: number, make: (index: number) => JsonSchema) => Array.from({ length: count }, (_, index) => make(index));
const fields = (count: number, make: (index: number) => Json): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, make(index)]));

/** Each of the definitions asks twice for the next one. */
function doubling(levels: number): JsonSchema {
  const $defs: JsonSchema = { [`d${levels}`]: { type: 'number' } };
  for (let level = 0; level < levels; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { anyOf: [next, next] };
  }
  return { $ref: '#/$defs/d0', $defs };
}

describe('[EXEC-1] the work that a schema causes', () => {
  const branches: [string, JsonSchema][] = [
    ['anyOf', { properties: { a: { anyOf: [self, self] } } }],
    ['oneOf', { properties: { a: { oneOf: [self, self] } } }],
    ['allOf', { properties: { a: { allOf: [self, self] } } }],
    ['if and else', { properties: { a: { if: self, else: self } } }],
    ['not', { properties: { a: { not: self, $ref: '#' } } }],
    ['dependentSchemas', { properties: { a: self }, dependentSchemas: { a: { properties: { a: self } } } }],
    ['dependencies', { properties: { a: self }, dependencies: { a: { properties: { a: self } } } }],
    ['patternProperties', { properties: { a: self }, patternProperties: { '^a': self } }],
    ['unevaluatedProperties', { properties: { a: self }, unevaluatedProperties: self }],
    [
      'a detour',
      { $ref: '#/$defs/x', $defs: { x: { properties: { a: { $ref: '#/$defs/y' } } }, y: { anyOf: [{ $ref: '#/$defs/x' }, self] } } },
    ],
  ];
  test.each(branches)('doubles with every level of self-references through %s', (_what, schema) => {
    const levels = [10, 11, 12].map((count) => work(schema, nested(count))) as [number, number, number];
    expect(levels[1]).toBeGreaterThan(1.9 * levels[0]);
    expect(levels[2]).toBeGreaterThan(1.9 * levels[1]);
    expect(work(schema, nested(27), mostWorkHere)).toBeGreaterThan(mostWorkHere);
  });

  test('doubles in lists too', () => {
    const schema = { items: self, contains: self };
    const list = (levels: number): Json => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    expect(work(schema, list(12))).toBeGreaterThan(1.9 * work(schema, list(11)));
  });

  test.each<[string, JsonSchema]>([
    ['a tree', { properties: { a: self, b: self, name: { type: 'string' } }, additionalProperties: self }],
    ['a list', { properties: { a: { anyOf: [{ type: 'null' }, self] } } }],
    ['kinds of which one refers on', { properties: { a: { oneOf: [{ const: 1 }, { required: ['x'] }, self] } } }],
  ])('grows no faster than the value in %s that refers to itself once', (_what, schema) => {
    expect(work(schema, nested(40))).toBeLessThan(5 * work(schema, nested(10)));
    expect(work(schema, nested(60))).toBeLessThan(mostWorkHere);
  });

  test('counts only the parts that the schema looks at', () => {
    const schema = { type: 'object', properties: { text: { type: 'string' }, free: {} } };
    expect(work(schema, { text: 'x'.repeat(1_000_000) })).toBeLessThan(100);
    expect(work(schema, { free: nested(1000) })).toBeLessThan(100);
  });

  test.each<[string, JsonSchema, Json]>([
    ['that refers to itself at once', self, {}],
    [
      'that refers to itself by a detour',
      { $ref: '#/$defs/a', $defs: { a: { not: { $ref: '#/$defs/b' } }, b: { $ref: '#/$defs/a' } } },
      {},
    ],
    ['that refers elsewhere', { $ref: 'https://example.com/schema' }, {}],
    ['that refers to nothing', { $ref: '#/$defs/none' }, {}],
    ['with dynamic references', { items: { $dynamicRef: '#node' } }, [1]],
    ['that changes what references mean', { properties: { a: { $id: 'x', anyOf: [self] } } }, nested(1)],
    ['that doubles without getting deeper', doubling(40), {}],
    ['that follows a value deeper than requests go', { properties: { a: self } }, nested(100)],
    ['with a long list of different things', { items: { uniqueItems: true } }, [Array.from({ length: 50_000 }, () => 1)]],
    [
      'with many kinds, for many values',
      { items: { anyOf: many(100, () => ({ type: 'number' })) } },
      Array.from({ length: 5000 }, () => 'x'),
    ],
    [
      'with many values to choose from',
      { items: { enum: Array.from({ length: 300 }, (_, n) => n) } },
      Array.from({ length: 5000 }, () => 'x'),
    ],
    ['with a pattern of many steps', { items: { pattern: '(([ab]{20}){20}){20}' } }, ['a'.repeat(100)]],
    ['with a pattern, for a long text', { items: { pattern: '^(a+)+$' } }, ['a'.repeat(100_000)]],
  ])('of one %s is too much for the main thread', (_which, schema, value) => {
    expect(work(schema, value, mostWorkHere)).toBeGreaterThan(mostWorkHere);
  });

  test('of an ordinary schema is small', () => {
    const schema = {
      type: 'object',
      properties: {
        id: { type: 'string', pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12}$' },
        unit: { enum: ['C', 'F'] },
        $ref: { type: 'string' },
      },
      required: ['id'],
      additionalProperties: false,
    };
    expect(work(schema, { id: '01234567-89ab-0123456789ab', unit: 'C', $ref: 'x' })).toBeLessThan(mostWorkHere / 10);
  });
});

describe('[EXEC-1] the size of a schema', () => {
  test.each<[string, JsonSchema]>([
    ['with many parts', { properties: fields(500, () => ({ type: 'string' })) }],
    ['whose parts are referred to from many places within each other', nestedReferences(60)],
    ['with a pattern that is long when it is compiled', { pattern: '([a-z]{500}[0-9]{500})' }],
  ])('%s is too much to be compiled on the main thread', (_which, schema) => {
    expect(schemaSize(schema)).toBeGreaterThan(mostSizeHere);
    expect(tooLarge(schema)).toBeUndefined();
  });

  test('has a limit for every schema', () => {
    expect(tooLarge({ properties: fields(20_000, () => ({ type: 'string', minLength: 1 })) })).toMatch(/^is too large: it has \d+ parts/);
    let deep: JsonSchema = {};
    for (let level = 0; level < 50_000; level++) deep = { not: deep };
    expect(tooLarge(deep)).toBe('is nested too deeply');
  });
});

function nestedReferences(levels: number): JsonSchema {
  let part: JsonSchema = { type: 'string' };
  const anyOf: JsonSchema[] = [];
  let pointer = '#/$defs/part';
  for (let level = 0; level < levels; level++) {
    part = { properties: { a: part } };
    anyOf.push({ $ref: pointer });
    pointer += '/properties/a';
  }
  return { anyOf, $defs: { part } };
}
