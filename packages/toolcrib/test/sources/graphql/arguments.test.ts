import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { compiled } from './compiled.ts';

const inputOf = (args: string, more = ''): JsonObject =>
  compiled(`type Query { find(${args}): Int } ${more}`).named('find').definition.input_schema;
const propertyOf = (type: string, more = ''): unknown => (inputOf(`a: ${type}`, more)['properties'] as JsonObject)['a'];

describe('the arguments of a field are a JSON Schema', () => {
  test.each([
    ['Int!', { type: 'integer', minimum: -2_147_483_648, maximum: 2_147_483_647 }],
    ['Float!', { type: 'number' }],
    ['String!', { type: 'string' }],
    ['Boolean!', { type: 'boolean' }],
    ['ID!', { type: ['string', 'integer'] }],
    ['String', { type: ['string', 'null'] }],
    ['[String!]!', { type: 'array', items: { type: 'string' } }],
    [
      '[[Int]]',
      { type: ['array', 'null'], items: { type: ['array', 'null'], items: expect.objectContaining({ type: ['integer', 'null'] }) } },
    ],
  ])('%s', (type, schema) => expect(propertyOf(type)).toEqual(schema));

  test('an argument that must not be null and has no default is required', () => {
    const { required, properties, additionalProperties } = inputOf('a: Int!, b: Int, c: Int! = 3, d: [String] = ["x"]');
    expect({ required, additionalProperties }).toEqual({ required: ['a'], additionalProperties: false });
    expect(properties).toMatchObject({ c: { default: 3 }, d: { default: ['x'] } });
  });

  test('descriptions and deprecations are part of the schema', () => {
    const { properties } = inputOf('"How many" a: Int @deprecated(reason: "Use b"), b: Int');
    expect(properties).toMatchObject({ a: { description: 'How many\nDeprecated. Use b', deprecated: true } });
  });

  test('inputs and enums are definitions, and only those that are reached', () => {
    const more = `
      "What to look for" input Where { kind: Kind!, and: [Where!], limit: Int = 10 }
      enum Kind { "Small" CAT DOG @deprecated(reason: "Too loud") }
      input Other { x: Int }`;
    expect(inputOf('where: Where', more)).toEqual({
      type: 'object',
      properties: { where: { anyOf: [{ $ref: '#/$defs/Where' }, { type: 'null' }] } },
      additionalProperties: false,
      $defs: {
        Where: {
          type: 'object',
          description: 'What to look for',
          properties: {
            kind: { $ref: '#/$defs/Kind' },
            and: { type: ['array', 'null'], items: { $ref: '#/$defs/Where' } },
            limit: { type: ['integer', 'null'], minimum: -2_147_483_648, maximum: 2_147_483_647, default: 10 },
          },
          required: ['kind'],
          additionalProperties: false,
        },
        Kind: { type: 'string', description: 'CAT: Small\nDOG: Deprecated. Too loud', enum: ['CAT', 'DOG'] },
      },
    });
  });

  test('of a @oneOf input exactly one field is given, and never null', () => {
    const { $defs } = inputOf('by: By!', 'input By @oneOf { id: ID, name: String }');
    expect($defs).toEqual({
      By: {
        type: 'object',
        properties: { id: { type: ['string', 'integer'] }, name: { type: 'string' } },
        additionalProperties: false,
        minProperties: 1,
        maxProperties: 1,
      },
    });
  });

  test.each([
    ['DateTime', { type: 'string', format: 'date-time' }],
    ['UUID', { type: 'string', format: 'uuid' }],
    ['URL', { type: 'string', format: 'uri' }],
    ['BigInt', { type: ['integer', 'string'], pattern: expect.any(String) }],
    ['JSONObject', { type: 'object' }],
    ['Decimal', { type: ['number', 'string'] }],
  ])('the scalar %s is what it is everywhere', (name, schema) => {
    expect(propertyOf(`${name}!`, `scalar ${name}`)).toEqual({ ...schema, description: `A value of the scalar ${name}` });
  });

  test('a scalar that nobody knows takes anything, and says what it is', () => {
    const scalar = '"An ISBN of 13 digits" scalar ISBN @specifiedBy(url: "https://isbn.example")';
    expect(propertyOf('ISBN', scalar)).toEqual({ description: 'An ISBN of 13 digits\nSpecified by https://isbn.example' });
  });

  test('an integer beyond 2^53 can be given as text', () => {
    const { pattern } = propertyOf('Long!', 'scalar Long') as { pattern: string };
    expect('9007199254740993').toMatch(new RegExp(pattern));
    expect('12.5').not.toMatch(new RegExp(pattern));
  });

  test('an optional file is left out with a warning, and a field that needs one is no tool', () => {
    const { named, skipped, warnings } = compiled('scalar Upload type Query { a(f: Upload, n: Int): Int b(f: Upload!): Int }');
    expect(Object.keys(named('a').definition.input_schema['properties'] as object)).toEqual(['n']);
    expect(warnings).toEqual([{ operation: 'query a', message: expect.stringContaining('The argument f of type Upload is left out') }]);
    expect(skipped).toEqual([{ operation: 'query b', reason: 'Files cannot be sent to GraphQL services' }]);
  });

  test('a huge enum takes any text', () => {
    const values = Array.from({ length: 5000 }, (_, index) => `V${index}`).join(' ');
    expect((inputOf('a: Big', `enum Big { ${values} }`)['$defs'] as JsonObject)['Big']).toEqual({
      type: 'string',
      description: 'One of the 5000 values of Big.',
    });
  });

  test('inputs that refer to hundreds of others are described as far as there is room', () => {
    const long = 'x'.repeat(900);
    const inputs = Array.from(
      { length: 600 },
      (_, index) => `input I${index} { "${long}" next: I${(index + 1) % 600}, other: I${(index * 7) % 600} }`,
    );
    const { tools, warnings } = compiled(`type Query { find(a: I0): Int } ${inputs.join('\n')}`);
    expect(JSON.stringify(tools).length).toBeLessThan(200_000);
    expect(warnings).toEqual([{ operation: 'query find', message: expect.stringContaining('so their deepest parts accept any value') }]);
  });
});

describe('the argument that chooses another selection', () => {
  test('is called so that it is no argument of the field', () => {
    const { named } = compiled('type Query { a(_select: Int): T b: T c: Int } type T { id: ID }');
    expect([named('a').plan.select, named('b').plan.select, named('c').plan.select]).toEqual(['__select', '_select', null]);
  });

  test('says what is asked for without it', () => {
    const { properties } = compiled('type Query { pet: Pet } type Pet { id: ID name: String }').named('pet').definition.input_schema;
    expect((properties as JsonObject)['_select']).toEqual({
      type: 'string',
      description: 'The fields of Pet to return, as a GraphQL selection. Default: { id name }',
    });
  });
});
