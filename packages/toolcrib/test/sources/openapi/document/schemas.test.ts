import { describe, expect, test } from 'vitest';
import { createArgumentValidator } from '../../../../src/validation/tool-validators.ts';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import { createSchemaTranslator } from '../../../../src/sources/openapi/document/schema-translator.ts';
import { openDocument } from '../../../../src/sources/openapi/document/open-document.ts';
import { sampleTool } from '../../../fixtures/samples.ts';
import { argumentOf, compiled, documentOf, onlyTool } from './compiled.ts';

interface Around {
  version?: string | undefined;
  direction?: 'request' | 'answer';
  schemas?: JsonObject;
}

function translated(schema: Json, { version = '3.0.3', direction = 'request', schemas = {} }: Around = {}) {
  const warnings: string[] = [];
  const named: JsonObject = version === '2.0' ? { swagger: '2.0', definitions: schemas } : { openapi: version, components: { schemas } };
  const document = openDocument({ ...named, paths: {} });
  const translator = createSchemaTranslator({ document, direction, warn: (message) => warnings.push(message) });
  return { ...translator.translate(schema), warnings };
}

const string = { type: 'string' };
const $null = { type: 'null' };
const pet = { $ref: '#/components/schemas/Pet' };
const defPet = { $ref: '#/$defs/Pet' };

describe('[OAS-3] a schema of any version', () => {
  test.each<[string, Json, Json, string?]>([
    ['null beside a type', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
    ['null beside an enumeration', { type: 'string', enum: ['a'], nullable: true }, { type: ['string', 'null'], enum: ['a', null] }],
    ['null beside a reference', { ...pet, nullable: true }, { anyOf: [defPet, $null] }],
    ['null beside allOf', { allOf: [pet], nullable: true }, { anyOf: [{ allOf: [defPet] }, $null] }],
    ['null beside anyOf', { anyOf: [pet, string], nullable: true }, { anyOf: [{ anyOf: [defPet, string] }, $null] }],
    ['null alone among choices', { oneOf: [{ nullable: true }, pet] }, { oneOf: [$null, defPet] }],
    ['null of an extension', { type: 'string', 'x-nullable': true }, { type: ['string', 'null'] }, '2.0'],
    ['null of 3.1', { type: ['string', 'null'] }, { type: ['string', 'null'] }, '3.1.0'],
    ['exclusive bounds as switches', { type: 'number', minimum: 1, exclusiveMinimum: true }, { type: 'number', exclusiveMinimum: 1 }],
    ['a switch that is off', { maximum: 2, exclusiveMaximum: false }, { maximum: 2 }],
    ['a switch without a bound', { exclusiveMaximum: true }, {}],
    ['exclusive bounds of 3.1', { exclusiveMinimum: 1 }, { exclusiveMinimum: 1 }, '3.1.0'],
    ['beside a reference before 3.1', { ...pet, type: 'string', description: 'Mine' }, { ...defPet, description: 'Mine' }],
    ['beside a reference since 3.1', { ...pet, minProperties: 1 }, { ...defPet, minProperties: 1 }, '3.1.0'],
    ['bytes', { type: 'string', format: 'binary' }, { type: 'string', contentEncoding: 'base64' }],
    ['bytes in base64', { type: 'string', format: 'byte' }, { type: 'string', contentEncoding: 'base64' }],
    ['a file of 2.0', { type: 'file' }, { type: 'string', contentEncoding: 'base64' }, '2.0'],
    ['a tuple of old', { type: 'array', items: [string, string] }, { type: 'array', prefixItems: [string, string] }, '3.1.0'],
    ['a type by another name', { type: 'int' }, { type: 'integer' }, '2.0'],
    ['text that YAML took for numbers', { type: 'string', enum: [1, true, 'x'] }, { type: 'string', enum: ['1', 'true', 'x'] }],
    [
      'keywords that only OpenAPI has',
      { type: 'object', discriminator: 'kind', xml: {}, example: 1, externalDocs: {}, 'x-a': 1 },
      { type: 'object' },
    ],
    ['invalid keyword values', { type: 'string', maxLength: '5', required: true, multipleOf: 0, enum: [], allOf: [] }, string],
    ['identities', { $id: 'https://a.example', $anchor: 'a', $schema: 'b', $defs: {}, type: 'string' }, string, '3.1.0'],
    ['true and false', { properties: { a: true, b: false } }, { properties: { a: true, b: false } }, '3.1.0'],
  ])('is translated to JSON Schema 2020-12: %s', (_, given, expected, version) => {
    expect(translated(given, { version, schemas: { Pet: { type: 'object' } } }).schema).toEqual(expected);
  });

  test.each<[string, Json, Json, RegExp]>([
    ['a list in the place of a schema', { properties: { a: [string] } }, { properties: { a: {} } }, /a list where a schema should be/],
    ['an unknown type', { type: 'thing' }, {}, /has no type "thing"/],
    ['a pattern of another language', { pattern: '(?P<a>b)' }, {}, /not an ECMAScript regular expression/],
    ['a reference to nowhere', { allOf: [{ $ref: '#/components/schemas/No' }] }, { allOf: [{ $ref: '#/$defs/No' }] }, /No is not in/],
  ])('with %s is repaired, with a warning', (_, given, expected, warning) => {
    const { schema, warnings } = translated(given);
    expect(schema).toEqual(expected);
    expect(warnings).toEqual([expect.stringMatching(warning)]);
  });
});

describe('[OAS-3] requests have no read-only fields, and answers no write-only ones', () => {
  const schema = {
    type: 'object',
    required: ['id', 'name', 'secret'],
    properties: { id: { type: 'integer', readOnly: true }, name: string, secret: { type: 'string', writeOnly: true } },
  };

  test('in properties and in the required list', () => {
    expect(translated(schema).schema).toEqual({
      type: 'object',
      required: ['name', 'secret'],
      properties: { name: string, secret: string },
    });
    expect(translated(schema, { direction: 'answer' }).schema).toEqual({
      type: 'object',
      required: ['id', 'name'],
      properties: { id: { type: 'integer' }, name: string },
    });
  });

  test('even if the required list stands beside them, or the property is only a reference', () => {
    const schemas = { Base: { properties: { id: { readOnly: true } } }, Id: { type: 'integer', readOnly: true } };
    const split: JsonObject = { allOf: [{ $ref: '#/components/schemas/Base' }, { required: ['id', 'name'] }], required: ['id'] };
    expect(translated(split, { schemas }).schema).toEqual({ allOf: [{ $ref: '#/$defs/Base' }, { required: ['name'] }] });
    const referring = { properties: { id: { $ref: '#/components/schemas/Id' } }, required: ['id'] };
    expect(translated(referring, { schemas }).schema).toEqual({ properties: {} });
  });
});

/** A tool with a body of this schema, checked by what checks every call. */
function bodyTool(schema: JsonObject, schemas: JsonObject) {
  const made = compiled(
    documentOf({ requestBody: { required: true, content: { 'application/json': { schema } } } }, { components: { schemas } }),
  );
  const tool = onlyTool(made);
  const sample = sampleTool({ schema: tool.definition.input_schema });
  const check = (body: Json) => () => createArgumentValidator().check(sample, { body }, 'alice');
  return { tool, check, warnings: made.report.warnings };
}

describe('[OAS-3] additionalProperties in a part of allOf does not refuse properties of the other parts', () => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  /** As the generator of Microsoft Graph writes it. */
  const graph = (additionalProperties: Json) => ({
    entity: { type: 'object', properties: { id: string }, additionalProperties },
    item: { allOf: [ref('entity'), { type: 'object', properties: { tags: { type: 'array', items: string } }, additionalProperties }] },
    event: { allOf: [ref('item'), { type: 'object', properties: { subject: { type: 'string', nullable: true } }, additionalProperties }] },
  });
  const event = { id: '1', tags: ['a'], subject: 'Lunch' };
  const warning = {
    operation: 'POST /things',
    message: expect.stringMatching(/^additionalProperties in a part of allOf would refuse .*\(#\/components\/schemas\/event\)/),
  };

  test('when it asks for objects', () => {
    const { check, warnings } = bodyTool(ref('event'), graph({ type: 'object' }));
    expect(check(event)).not.toThrow();
    expect(check({ ...event, subject: 1 })).toThrow(/body.subject must be/);
    expect(warnings).toEqual([warning]);
    const { check: checkEntity } = bodyTool(ref('entity'), graph({ type: 'object' }));
    expect(checkEntity({ id: '1', more: 'text' })).toThrow(/body.more must be object/);
  });

  test('when it allows nothing else: all parts together are closed', () => {
    const { check, warnings } = bodyTool(ref('event'), graph(false));
    expect(check(event)).not.toThrow();
    expect(check({ ...event, subjct: 'Lunch' })).toThrow('arguments.body.subjct is not a parameter of this tool');
    expect(warnings).toEqual([warning]);
  });

  test('when it stands beside allOf, or beside a reference since 3.1', () => {
    const beside = { allOf: [ref('entity')], properties: { a: string }, additionalProperties: false };
    expect(bodyTool(beside, graph(false)).check({ id: '1', a: 'x' })).not.toThrow();
    const { schema } = translated(
      { ...ref('entity'), properties: { a: string }, additionalProperties: false },
      { version: '3.1.0', schemas: graph(false) },
    );
    expect(schema).toMatchObject({ propertyNames: { enum: ['id', 'a'] } });
    expect(schema).not.toHaveProperty('additionalProperties');
  });

  test.each<[string, Json]>([
    ['is named in every part', { allOf: [{ properties: { id: string }, additionalProperties: false }, { required: ['id'] }] }],
    ['lets the others through', { allOf: [{ properties: { id: string } }, { additionalProperties: string }] }],
    [
      'matches a pattern',
      { allOf: [{ properties: { id: string } }, { patternProperties: { '^id$': string }, additionalProperties: false }] },
    ],
  ])('and is kept when every property %s', (_, schema) => {
    const { schema: kept, warnings } = translated(schema);
    expect(warnings).toEqual([]);
    expect(kept).toEqual(schema);
  });

  test('and the whole is not closed when some names cannot be listed', () => {
    const schema: JsonObject = {
      allOf: [
        { properties: { id: string }, additionalProperties: false },
        { oneOf: [{ properties: { a: string } }] },
        { properties: { b: string } },
      ],
    };
    expect(translated(schema).schema).not.toHaveProperty('propertyNames');
    expect(translated({ allOf: [ref('gone'), { properties: { id: string } }, { additionalProperties: false }] }).schema).not.toHaveProperty(
      'propertyNames',
    );
  });

  test('and does not apply to answers', () => {
    const { schema } = translated(ref('event'), { direction: 'answer', schemas: graph(false) });
    expect(JSON.stringify(schema)).not.toContain('propertyNames');
  });
});

describe('[OAS-3] schemas that refer to each other', () => {
  const tree = { type: 'object', properties: { value: string, children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } } };

  test('keep their circles among the definitions, and only what is reached is there', () => {
    const { tool, check } = bodyTool({ $ref: '#/components/schemas/Tree' }, { Tree: tree, Other: string });
    expect(Object.keys(tool.definition.input_schema['$defs'] as JsonObject)).toEqual(['Tree']);
    expect(argumentOf(tool, 'body')).toEqual({ $ref: '#/$defs/Tree' });
    expect(check({ children: [{ children: [{ value: 'x' }] }] })).not.toThrow();
    expect(check({ children: [{ children: [{ value: 1 }] }] })).toThrow(/body.children.0.children.0.value must be string/);
  });

  test('keep a circle that goes into the value', () => {
    const node = { type: 'object', properties: { next: { allOf: [{ $ref: '#/components/schemas/Node' }], nullable: true } } };
    const { check, warnings } = bodyTool({ $ref: '#/components/schemas/Node' }, { Node: node });
    expect(warnings).toEqual([]);
    expect(check({ next: { next: null } })).not.toThrow();
    expect(check({ next: { next: 'x' } })).toThrow(/body.next.next must be/);
  });

  test('are open in their deepest parts if they take too much room', () => {
    const wide = Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`property_${i}`, { ...string, description: 'x'.repeat(50) }]));
    const schemas = { A: { type: 'object', properties: { b: { $ref: '#/components/schemas/B' } } }, B: { properties: wide } };
    const { tool, warnings } = bodyTool(
      { allOf: [{ $ref: '#/components/schemas/A' }] },
      { ...schemas, B: { properties: { ...wide, c: { $ref: '#/components/schemas/C' } } }, C: { properties: wide } },
    );
    expect(tool.definition.input_schema['$defs']).toEqual({ A: expect.objectContaining({ type: 'object' }), B: {} });
    expect(warnings).toEqual([{ operation: 'POST /things', message: expect.stringContaining('more than 512 KiB') }]);
  });

  test.each<[string, JsonObject]>([
    ['a schema that is itself', { A: { $ref: '#/components/schemas/A' } }],
    ['one that is all of itself', { A: { allOf: [{ $ref: '#/components/schemas/A' }, { type: 'object' }] } }],
    ['two that are each other', { A: { anyOf: [{ $ref: '#/components/schemas/B' }] }, B: { oneOf: [{ $ref: '#/components/schemas/A' }] } }],
  ])('are cut if they would be checked forever: %s', (_, schemas) => {
    const { check, warnings } = bodyTool({ $ref: '#/components/schemas/A' }, schemas);
    expect(check({ any: 'thing' })).not.toThrow();
    expect(warnings).toEqual([{ operation: 'POST /things', message: expect.stringContaining('refers to nothing but itself') }]);
  });

  test('may have names that every object inherits', () => {
    const schemas = { constructor: { type: 'object', properties: { toString: string, hasOwnProperty: { type: 'integer' } } } };
    const { check } = bodyTool({ $ref: '#/components/schemas/constructor' }, schemas);
    expect(check({ hasOwnProperty: 1 })).not.toThrow();
    expect(check({ hasOwnProperty: 'x' })).toThrow(/must be integer/);
    const hostile = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"a":{"type":"string"}},"required":["__proto__"]}',
    );
    expect(JSON.stringify(argumentOf(bodyTool(hostile, {}).tool, 'body'))).not.toContain('__proto__');
  });
});

describe('[OAS-3] output schemas are advisory and limited in size', () => {
  const answer = (schema: JsonObject, schemas: JsonObject = {}) => {
    const responses = { 200: { description: '', content: { 'application/json': { schema } } } };
    return onlyTool(compiled(documentOf({ responses }, { components: { schemas } }))).definition.output_schema;
  };

  test('to objects, with the definitions they reach', () => {
    const schemas = { Pet: { type: 'object', properties: { owner: { $ref: '#/components/schemas/Owner' } } }, Owner: { type: 'object' } };
    expect(answer(pet, schemas)).toEqual({
      type: 'object',
      properties: { owner: { $ref: '#/$defs/Owner' } },
      $defs: { Owner: { type: 'object' } },
    });
    expect(answer({ type: 'array', items: string })).toBeUndefined();
    expect(answer({ type: 'object', nullable: true })).toBeUndefined();
    expect(answer({ $ref: 'https://elsewhere.example/a.json' })).toBeUndefined();
  });

  test('and accept anything where they do not fit', () => {
    const wide = (prefix: string) => Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`${prefix}_property_${i}`, string]));
    const schemas = { A: { type: 'object', properties: wide('a') }, B: { type: 'object', properties: wide('b') } };
    const both = { a: { $ref: '#/components/schemas/A' }, b: { $ref: '#/components/schemas/B' }, c: { $ref: '#/components/schemas/A' } };
    const schema = answer(
      { type: 'object', properties: both },
      { ...schemas, B: { type: 'object', properties: { ...wide('b'), ...wide('c') } } },
    );
    expect(JSON.stringify(schema).length).toBeLessThanOrEqual(8192);
    expect(schema?.['$defs']).toEqual({ A: schemas.A, B: {} });
  });

  test('and are cut below if they are deep', () => {
    const deep = (level: number): JsonObject =>
      level === 0 ? string : { type: 'object', properties: { a: deep(level - 1), b: deep(level - 1), c: deep(level - 1) } };
    const schema = answer(deep(7));
    expect(JSON.stringify(schema).length).toBeLessThanOrEqual(8192);
    expect(schema).toMatchObject({ type: 'object', properties: { a: { type: 'object', properties: {} } } });
  });
});
