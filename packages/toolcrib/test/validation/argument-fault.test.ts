import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { argumentFault } from '../../src/validation/argument-fault.ts';
import { createSchemaCompiler } from '../../src/validation/schema-compiler.ts';
import type { JsonObject, JsonSchema } from '../../src/model/json.ts';

const compile = createSchemaCompiler();
const fault = (schema: JsonSchema, args: JsonObject) => argumentFault(compile(schema), args)?.message;

const card = { type: 'object', properties: { type: { const: 'card' }, number: { type: 'string' } }, required: ['type', 'number'] };
const bank = {
  type: 'object',
  properties: { type: { const: 'bank' }, iban: { type: 'string' }, holder: { type: 'object', properties: { name: { type: 'string' } } } },
  required: ['type', 'iban'],
  additionalProperties: false,
};
const paying = (payment: JsonObject, more: JsonObject = {}): JsonSchema => ({ type: 'object', properties: { payment }, ...more });

describe('[EXEC-1] the fault of an argument with several forms', () => {
  const forms = { oneOf: [card, bank] };
  const byReference = { oneOf: [{ $ref: '#/$defs/card' }, { $ref: '#/$defs/bank' }] };
  const $defs = { card, bank };

  test.each<[string, JsonObject, string]>([
    ['something that is missing', { type: 'bank' }, 'arguments.payment.iban is required'],
    ['something of another type', { type: 'bank', iban: 7 }, 'arguments.payment.iban must be string'],
    ['something too much', { type: 'bank', iban: 'x', bic: 'y' }, 'arguments.payment.bic is not a parameter here'],
    ['something deep inside', { type: 'bank', iban: 'x', holder: { name: 7 } }, 'arguments.payment.holder.name must be string'],
    ['the first form, where that is meant', { type: 'card' }, 'arguments.payment.number is required'],
    ['a form without its marker', { iban: 'x' }, 'arguments.payment.type is required'],
    ['a marker of none', { type: 'cash' }, 'arguments.payment.type must be one of ["card","bank"]'],
  ])('is that of the form that fits best: %s', (_what, payment, said) => {
    for (const schema of [paying(forms), paying({ anyOf: [card, bank] }), paying(byReference, { $defs })])
      expect(fault(schema, { payment })).toBe(said);
  });

  test('is about the form itself if the type differs, or if several fit', () => {
    const text = { type: 'string' };
    expect(fault(paying({ anyOf: [text, card, { type: 'null' }] }), { payment: 7 })).toBe(
      'arguments.payment must be string or object or null',
    );
    expect(fault(paying({ oneOf: [{ type: 'number' }, { type: 'integer' }] }), { payment: 7 })).toBe(
      'arguments.payment matches several of the allowed forms, but must match exactly one',
    );
    expect(
      fault(
        paying({
          oneOf: [
            { type: 'string', maxLength: 2 },
            { type: 'string', pattern: '^x' },
          ],
        }),
        { payment: 'abc' },
      ),
    ).toBe('arguments.payment must NOT have more than 2 characters');
  });

  test('is found in lists, in nested forms, and at the top', () => {
    const list = { type: 'array', items: { anyOf: [card, { oneOf: [bank, { type: 'string' }] }] } };
    expect(fault(paying(list), { payment: ['x', { type: 'bank' }] })).toBe('arguments.payment.1.iban is required');
    expect(fault({ oneOf: [card, bank] }, { type: 'bank' })).toBe('arguments.iban is required');
    const $defs: JsonObject = { node: { type: 'object', properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } } } };
    expect(fault({ $ref: '#/$defs/node', $defs }, { next: { next: 'x' } })).toBe('arguments.next.next must be object or null');
  });

  test('is found in bounded time for recursive schemas and deep arguments', () => {
    const tree = {
      type: 'object',
      properties: { l: { $ref: '#' }, r: { $ref: '#' } },
      anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }],
    };
    const schema = { ...tree, $defs: { a: { required: ['a'], allOf: [{ $ref: '#/properties/l' }] }, b: { required: ['b'] } } };
    let deep: JsonObject = {};
    for (let level = 0; level < 12; level++) deep = { l: deep, r: deep };
    expect(fault(schema, deep)).toMatch(/^arguments/);
    expect(
      fault(
        {
          anyOf: [{ $ref: '#/$defs/x' }],
          $defs: { x: { allOf: [{ $ref: '#/$defs/y' }], required: ['q'] }, y: { anyOf: [{ required: ['z'] }] } },
        },
        {},
      ),
    ).toMatch(/is required$/);
  });

  test('has words for everything that does not fit, and none for what does', () => {
    const plain = new Ajv2020({ strict: false });
    const leaf = fc.constantFrom<JsonObject>({ type: 'string' }, { type: 'number' }, { const: 1 }, { enum: ['a', 'b'] }, { type: 'null' });
    const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((oneOf) => ({ oneOf })),
        fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
        tie('schema').map((items) => ({ type: 'array', items })),
        fc.tuple(tie('schema'), tie('schema'), fc.boolean()).map(([a, b, isOpen]) => ({
          type: 'object',
          properties: { a, b },
          required: ['a'],
          additionalProperties: isOpen,
        })),
      ),
    }));
    const value = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
    fc.assert(
      fc.property(schema, value, (inner, args) => {
        const whole = { type: 'object', ...inner, ...(inner['type'] === undefined ? {} : { type: inner['type'] }) };
        const said = fault(whole, args as JsonObject);
        expect(said === undefined).toBe(plain.validate(whole, args));
        expect(said ?? 'arguments').toMatch(/^arguments/);
      }),
      { numRuns: 300 },
    );
  });
});

describe('[EXEC-1] an argument under a wrong name is named', () => {
  const schema: JsonSchema = { type: 'object', properties: { expression: { type: 'string' }, digits: {} }, required: ['expression'] };
  const closed = { ...schema, additionalProperties: false };

  test.each<[string, JsonSchema, JsonObject, string]>([
    ['beside what is missing', schema, { sum: '6*7' }, 'arguments.expression is required; arguments.sum is not a parameter of this tool'],
    ['and nothing where all are known', schema, { digits: 1 }, 'arguments.expression is required'],
    ['with what was meant', closed, { expression: '1', digit: 3 }, 'arguments.digit is not a parameter of this tool: did you mean digits?'],
    [
      'with what there is',
      closed,
      { expression: '1', precision: 3 },
      'arguments.precision is not a parameter of this tool: it takes expression, digits',
    ],
  ])('%s', (_what, tool, args, said) => expect(fault(tool, args)).toBe(said));

  test('in a message of bounded length', () => {
    const properties = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`parameter-${n}-${'x'.repeat(200)}`, {}]));
    expect(fault({ type: 'object', properties, additionalProperties: false }, { ['y'.repeat(1_000_000)]: 1 })?.length).toBeLessThan(2000);
  });
});
