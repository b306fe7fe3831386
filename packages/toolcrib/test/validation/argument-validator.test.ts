import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { createArgumentValidator } from '../../src/validation/tool-validators.ts';
import { CribError } from '../../src/model/crib-error.ts';
import type { JsonObject, JsonSchema } from '../../src/model/json.ts';
import { sampleTool } from '../fixtures/samples.ts';

const validator = createArgumentValidator();
afterAll(() => validator.close());

/** The fault of the arguments as `field: message`, or undefined. */
async function fault(schema: JsonSchema, args: JsonObject, checks = validator): Promise<string | undefined> {
  try {
    await checks.check(sampleTool({ schema }), args, 'alice');
    return undefined;
  } catch (error) {
    if (!(error instanceof CribError)) throw error;
    return error.code === 'VALIDATION_ERROR' ? `${error.field}: ${error.message}` : `${error.code}: ${error.message}`;
  }
}

const string = { type: 'string' };
const object = (properties: JsonObject, more: JsonObject = {}): JsonSchema => ({ type: 'object', properties, ...more });

describe('[EXEC-1] the arguments of a call', () => {
  test.each<[string, JsonSchema, JsonObject, string | undefined]>([
    ['fitting', object({ city: string }, { required: ['city'] }), { city: 'Oslo' }, undefined],
    ['missing', object({ city: string }, { required: ['city'] }), {}, 'arguments.city: arguments.city is required'],
    ['of another type', object({ city: string }), { city: 7 }, 'arguments.city: arguments.city must be string'],
    ['never converted', object({ n: { type: 'integer' } }), { n: '7' }, 'arguments.n: arguments.n must be integer'],
    ['unknown', object({}, { additionalProperties: false }), { town: 1 }, 'arguments.town: arguments.town is not a parameter of this tool'],
    ['unknown, where others are allowed', object({}), { town: 1 }, undefined],
    [
      'not evaluated',
      { type: 'object', unevaluatedProperties: false },
      { town: 1 },
      'arguments.town: arguments.town is not a parameter of this tool',
    ],
    [
      'nested',
      object({ at: object({ lat: { type: 'number' } }) }),
      { at: { lat: 'x' } },
      'arguments.at.lat: arguments.at.lat must be number',
    ],
    ['missing within', object({ at: { type: 'object', required: ['lat'] } }), { at: {} }, 'arguments.at.lat: arguments.at.lat is required'],
    ['in a list', object({ all: { type: 'array', items: string } }), { all: ['a', 1] }, 'arguments.all.1: arguments.all.1 must be string'],
    ['not one of a few', object({ unit: { enum: ['C', 'F'] } }), { unit: 'K' }, 'arguments.unit: arguments.unit must be one of ["C","F"]'],
    ['not the one value', object({ v: { const: 2 } }), { v: 3 }, 'arguments.v: arguments.v must be 2'],
    ['too small', object({ n: { type: 'number', minimum: 1 } }), { n: 0 }, 'arguments.n: arguments.n must be >= 1'],
    ['too long', object({ s: { maxLength: 2 } }), { s: 'abc' }, 'arguments.s: arguments.s must NOT have more than 2 characters'],
    ['under a name with a slash', object({ 'a/b~c': string }), { 'a/b~c': 1 }, 'arguments.a/b~c: arguments.a/b~c must be string'],
    [
      'not fitting a pattern',
      object({ id: { pattern: '^[a-z]+$' } }),
      { id: 'A1' },
      'arguments.id: arguments.id must match pattern "^[a-z]+$"',
    ],
    ['whatever the format says', object({ mail: { type: 'string', format: 'email' } }), { mail: 'no' }, undefined],
    [
      'twice in a list',
      object({ l: { uniqueItems: true } }),
      {
        l: [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      },
      'arguments.l: arguments.l must not contain the same item twice',
    ],
    ['alike but different in a list', object({ l: { uniqueItems: true } }), { l: [1, '1', true, 'true', null, [1], { a: 1 }] }, undefined],
    ['twice where that is allowed', object({ l: { uniqueItems: false } }), { l: [1, 1] }, undefined],
    ['called constructor, and absent', object({ constructor: string }), {}, undefined],
    [
      'called constructor, and wrong',
      object({ constructor: string }),
      { constructor: 1 },
      'arguments.constructor: arguments.constructor must be string',
    ],
    ['required and only inherited', { type: 'object', required: ['toString'] }, {}, 'arguments.toString: arguments.toString is required'],
    [
      'called __proto__',
      object({}, { additionalProperties: false }),
      JSON.parse('{"__proto__": 1}') as JsonObject,
      'arguments.__proto__: arguments.__proto__ is not a parameter of this tool',
    ],
    ['anything, for an empty schema', {}, { a: 1 }, undefined],
  ])('are refused with the field and the reason, or accepted: %s', async (_what, schema, args, expected) => {
    expect(await fault(schema, args)).toBe(expected);
  });

  test('[EXEC-6] are refused as a VALIDATION_ERROR', () => {
    expect(() => validator.check(sampleTool({ schema: { required: ['a'] } }), {}, 'alice')).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', httpStatus: 400, field: 'arguments.a', retryable: false }),
    );
  });

  test('are refused in a message of bounded length', async () => {
    const long = 'x'.repeat(100_000);
    expect((await fault(object({ a: { enum: [long] } }), { a: 1 }))?.length).toBeLessThan(2000);
    expect((await fault(object({}, { additionalProperties: false }), { [long]: 1 }))?.length).toBeLessThan(2000);
  });

  test('are not changed by the check', async () => {
    const args = { n: '7' };
    await fault(object({ n: { type: 'integer' }, d: { default: 5 } }), args);
    expect(args).toEqual({ n: '7' });
  });
});

describe('patterns', () => {
  test('are separate, within a schema and between schemas', async () => {
    const both = object({ a: { pattern: '^a+$' }, b: { pattern: '^b+$' } });
    expect(await fault(both, { a: 'aa', b: 'bb' })).toBeUndefined();
    expect(await fault(both, { a: 'bb' })).toContain('arguments.a');
    expect(await fault(both, { b: 'aa' })).toContain('arguments.b');
    expect(await fault(object({ c: { pattern: '^c$' } }), { c: 'a' })).toContain('arguments.c');
    expect(await fault({ type: 'object', patternProperties: { '^x-': string }, additionalProperties: false }, { 'x-a': 1 })).toContain(
      'arguments.x-a',
    );
    expect(await fault({ type: 'object', patternProperties: { '^x-': string }, additionalProperties: false }, { y: 'a' })).toContain(
      'arguments.y',
    );
  });

  test('match anywhere, as JSON Schema says', async () => {
    expect(await fault(object({ a: { pattern: 'b' } }), { a: 'abc' })).toBeUndefined();
  });

  test('that would take forever elsewhere come to an end', async () => {
    const schema = object({ a: { pattern: '^(a+)+$' } });
    expect(await fault(schema, { a: 'a'.repeat(50_000) })).toBeUndefined();
    expect(await fault(schema, { a: `${'a'.repeat(50_000)}!` })).toContain('must match pattern');
  });

  test('that RE2 does not support are left to the tool', async () => {
    expect(await fault(object({ a: { pattern: '^(?=.*[0-9]).+$' } }), { a: 'no digit' })).toBeUndefined();
  });
});

describe('schemas', () => {
  test.each([
    ['draft 07', 'http://json-schema.org/draft-07/schema#'],
    ['draft 06', 'http://json-schema.org/draft-06/schema#'],
    ['draft 07 by another address', 'https://json-schema.org/draft-07/schema'],
  ])('of %s are read as such', async (_draft, $schema) => {
    const schema = object(
      { pair: { type: 'array', items: [string, { type: 'number' }] }, ref: { $ref: '#/definitions/s' } },
      { definitions: { s: string }, $schema },
    );
    expect(await fault(schema, { pair: ['a', 1], ref: 'a' })).toBeUndefined();
    expect(await fault(schema, { pair: ['a', 'b'] })).toContain('arguments.pair.1');
    expect(await fault(schema, { ref: 1 })).toContain('arguments.ref');
  });

  test.each([
    'https://json-schema.org/draft/2020-12/schema',
    'https://json-schema.org/draft/2019-09/schema',
    'https://example.com/unknown',
    '',
  ])('that name the dialect %j compile', async ($schema) => {
    expect(await fault({ ...object({ a: string }), $schema }, { a: 1 })).toContain('arguments.a');
  });

  test('that refer to themselves work', async () => {
    const tree = object({ child: { $ref: '#' }, name: string });
    expect(await fault(tree, { child: { child: { name: 'x' } } })).toBeUndefined();
    expect(await fault(tree, { child: { child: { name: 1 } } })).toContain('arguments.child.child.name');
    const listed = { ...object({ a: { $ref: '#/$defs/node' } }), $defs: { node: object({ next: { $ref: '#/$defs/node' } }) } };
    expect(await fault(listed, { a: { next: { next: 5 } } })).toContain('arguments.a.next.next');
  });

  test('with the same $id or $anchor do not interfere', async () => {
    const withId = (type: string): JsonSchema =>
      object({ a: { $ref: 'part' } }, { $id: 'https://x.test/root', $defs: { p: { $id: 'part', type } } });
    const withAnchor = (type: string): JsonSchema => object({ a: { $ref: '#part' } }, { $defs: { p: { $anchor: 'part', type } } });
    for (const schema of [withId, withAnchor]) {
      expect(await fault(schema('string'), { a: 'text' })).toBeUndefined();
      expect(await fault(schema('number'), { a: 'text' })).toContain('must be number');
      expect(await fault(schema('string'), { a: 5 })).toContain('must be string');
    }
    expect(await fault(object({ a: { $ref: 'https://x.test/root' } }), { a: 5 })).toContain('Nobody can call');
  });

  test('with a property $async are checked like any other, and leave no rejection', async () => {
    expect(await fault({ ...object({ a: string }), $async: true }, { a: 1 })).toContain('arguments.a must be string');
    expect(await fault({ ...object({ a: string }), $async: true }, { a: 'x' })).toBeUndefined();
    await nextTurn();
  });

  test.each<[string, JsonSchema]>([
    ['an unknown type', { type: 'strng' }],
    ['a reference to nowhere', object({ a: { $ref: '#/$defs/none' } })],
    ['a reference to another address', object({ a: { $ref: 'http://169.254.169.254/latest' } })],
    ['a keyword of the wrong kind', object({ a: { maxLength: '5' } })],
    ['code in place of a name', { type: 'object', required: [{ toString: 'x' }] }],
  ])('with %s make their tool unusable, and say so', (_what, schema) => {
    const tool = sampleTool({ schema });
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(() => validator.check(tool, {}, 'alice')).toThrow(
        expect.objectContaining({
          code: 'SERVICE_UNAVAILABLE',
          retryable: false,
          message: expect.stringContaining('Nobody can call files:read_file: its input schema is not valid'),
        }),
      );
    }
  });

  test('are forgotten when more are in use than are cached, although their tools live on, unless they are used', async () => {
    const noticed: string[] = [];
    const small = createArgumentValidator({ maxCompiled: 4, onUnusable: ({ name }) => noticed.push(name) });
    const unusable = (name: string) => sampleTool({ name, schema: { type: 'nonsense' } });
    const [forgotten, used] = [unusable('forgotten'), unusable('used')];
    const others = Array.from({ length: 10 }, (_, index) =>
      sampleTool({ name: `other_${index}`, schema: object({ [`p${index}`]: string }) }),
    );
    for (const tool of [forgotten, used]) expect(() => small.check(tool, {}, 'alice')).toThrow(/Nobody can call/);
    for (const tool of others) {
      await small.check(tool, {}, 'alice');
      expect(() => small.check(used, {}, 'alice')).toThrow(/Nobody can call/);
    }
    expect(small.unusable(used)).toMatch(/is not valid/);
    expect(small.unusable(forgotten)).toBeUndefined();
    expect(() => small.check(forgotten, {}, 'alice')).toThrow(/Nobody can call/);
    expect(noticed).toEqual(['files:forgotten', 'files:used', 'files:forgotten']);
    await small.close();
  });

  test('are still checked correctly when more are in use than are cached', async () => {
    const small = createArgumentValidator({ maxCompiled: 3 });
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 10; n++) {
        const schema = object({ n: { const: n }, s: { pattern: `^${n}$` } });
        expect(await fault(schema, { n, s: String(n) }, small)).toBeUndefined();
        expect(await fault(schema, { n: n + 1 }, small)).toBe(`arguments.n: arguments.n must be ${n}`);
        expect(await fault(schema, { s: 'x' }, small)).toContain(`must match pattern "^${n}$"`);
      }
    }
  });
});

describe('hostile arguments', () => {
  test('nested as deep as a schema follows them are refused', async () => {
    const deep = JSON.parse('{"child":'.repeat(50_000) + '{}' + '}'.repeat(50_000)) as JsonObject;
    expect(await fault(object({ child: { $ref: '#' } }), deep)).toBe('arguments: arguments are nested too deeply');
  });

  test('in a long list of different items are checked in bounded time', async () => {
    const items = Array.from({ length: 100_000 }, (_, index) => ({ index }));
    expect(await fault(object({ items: { type: 'array', uniqueItems: true } }), { items })).toBeUndefined();
  });
});
