import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import type { JsonSchema } from '../../../src/model/json.ts';
import { corruptedArguments } from '../../fixtures/openapi/operation-arguments.ts';
import { schemaInstance } from '../../fixtures/openapi/schema-instance.ts';
import { seededRandom } from '../../fixtures/openapi/seeded-random.ts';

const tree: JsonSchema = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: { name: { type: 'string', minLength: 1 }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
      required: ['name'],
      additionalProperties: false,
    },
  },
};
const schemas: JsonSchema[] = [
  { type: 'string', minLength: 3, maxLength: 5 },
  { type: 'string', pattern: '^[a-z]{2}-\\d+$' },
  { type: 'string', enum: ['a', 'b'] },
  { type: ['string', 'null'] },
  { const: 7 },
  { type: 'integer', minimum: 10, maximum: 12 },
  { type: 'integer', exclusiveMaximum: -3, multipleOf: 5 },
  { type: 'number', minimum: 0, exclusiveMaximum: 1 },
  { type: 'array', items: { enum: [1, 2, 3] }, minItems: 2, maxItems: 3, uniqueItems: true },
  { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false, minItems: 2 },
  { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 1 },
  { allOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, { properties: { a: { minLength: 4 } } }] },
  { anyOf: [false, { type: 'boolean' }] },
  { oneOf: [{ type: 'integer', maximum: 3 }, { type: 'string' }], description: 'either' },
  tree,
];

test('a value made from a schema fits it, and is the same for the same seed', () => {
  const ajv = new Ajv2020({ strict: false });
  const made = (schema: JsonSchema, seed: number) =>
    schemaInstance(schema, schema, { random: seededRandom(seed), free: true, alphabets: { top: 'any', inside: 'any' } });
  for (const schema of schemas) {
    const validate = ajv.compile(schema);
    for (let seed = 0; seed < 50; seed++) {
      const value = made(schema, seed);
      expect({ value, errors: validate(value) ? [] : validate.errors }).toEqual({ value, errors: [] });
      expect(made(schema, seed)).toEqual(value);
    }
  }
});

test('corrupted arguments differ from the good ones in one thing each', () => {
  const args = { list: ['a'], nested: { name: 'b' } };
  const corrupted = [...corruptedArguments(args, seededRandom(1))];
  expect(corrupted).toContainEqual({ ...args, 'no such argument': 1 });
  expect(corrupted).toContainEqual({ list: ['a'], nested: {} });
  expect(corrupted).toContainEqual({ list: [], nested: { name: 'b' } });
  expect(args).toEqual({ list: ['a'], nested: { name: 'b' } });
});
