import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { argumentFault } from '../../src/validation/argument-fault.ts';
import { createArgumentValidator } from '../../src/validation/tool-validators.ts';
import { createSchemaCompiler } from '../../src/validation/schema-compiler.ts';
import { createSchemaThreads } from '../../src/validation/schema-threads.ts';
import type { JsonObject, JsonSchema } from '../../src/model/json.ts';
import { sampleTool } from '../fixtures/samples.ts';

const tooLong = {
  code: 'VALIDATION_ERROR',
  field: 'arguments',
  message: 'arguments take too long to check against the schema of this tool: send fewer, or less deeply nested ones',
};

const stopping = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });
const reasonOf = (checking: Promise<void> | undefined) => Promise.resolve(checking).catch((error: unknown) => error);

/** Two branches that lead back: the work doubles with every level. */
const hostile: JsonSchema = { type: 'object', properties: { a: { anyOf: [{ $ref: '#' }, { $ref: '#' }] } } };
const nested = (levels: number, leaf: string): JsonObject => JSON.parse('{"a":'.repeat(levels) + leaf + '}'.repeat(levels)) as JsonObject;
/** Too large to be compiled here. */
const large: JsonSchema = {
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`p${index}`, { type: 'string' }])),
};

describe('[EXEC-1] arguments that may take long to check', () => {
  test('are checked on another thread, with the same messages', async () => {
    const validator = createArgumentValidator();
    const tool = sampleTool({ schema: large });
    const checking = validator.check(tool, { p7: '7' }, 'alice');
    expect(checking).toBeInstanceOf(Promise);
    await checking;
    await expect(validator.check(tool, { p7: 8 }, 'alice')).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      field: 'arguments.p7',
      message: 'arguments.p7 must be string',
    });
    await validator.close();
  });

  test('are checked on the main thread if they are small, even by a costly schema', async () => {
    const validator = createArgumentValidator();
    const tool = sampleTool({ schema: hostile });
    expect(validator.check(tool, nested(3, '{}'), 'alice')).toBeUndefined();
    const checking = validator.check(tool, nested(18, '{}'), 'alice');
    expect(checking).toBeInstanceOf(Promise);
    await checking;
    await validator.close();
  });

  test('are refused when they take too long, one after the other, and the thread is replaced', async () => {
    const validator = createArgumentValidator({ timeLimitMs: 1500 });
    const tool = sampleTool({ schema: hostile });
    for (let round = 0; round < 2; round++) await expect(validator.check(tool, nested(60, '1'), 'mallory')).rejects.toMatchObject(tooLong);
    await validator.check(tool, nested(18, '{}'), 'mallory');
    await validator.close();
  });

  test('hold up nobody else, however long they take', async () => {
    const validator = createArgumentValidator({ timeLimitMs: 600_000 });
    const tool = sampleTool({ schema: hostile });
    // Two of hers, and one thread is still for others.
    const endings = [1, 2].map(() => reasonOf(validator.check(tool, nested(60, '1'), 'mallory')));
    for (const name of ['alice', 'bob', 'carol']) await validator.check(sampleTool({ schema: large }), { p1: '1' }, name);
    await validator.close();
    expect(await Promise.all(endings)).toEqual([stopping, stopping]);
  });

  test('are refused for a while when one caller sends too many at once, and for nobody else', async () => {
    const validator = createArgumentValidator({ timeLimitMs: 60_000, mostWaiting: 4 });
    const tool = sampleTool({ schema: hostile });
    const endings: Promise<unknown>[] = [];
    const ask = (caller: string) => validator.check(tool, nested(60, '1'), caller);
    for (let count = 0; count < 2; count++) endings.push(reasonOf(ask('mallory')));
    await expect(ask('mallory')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await validator.check(sampleTool({ schema: large }), { p1: '1' }, 'alice');
    await validator.close();
    expect(await Promise.all(endings)).toEqual([stopping, stopping]);
  });
});

describe('[EXEC-1] a schema', () => {
  test('that takes too long to compile makes its tool unusable for a while, which is reported', async () => {
    const told: string[] = [];
    let now = 0;
    const validator = createArgumentValidator({
      timeLimitMs: 1,
      now: () => now,
      onUnusable: ({ name }, reason) => told.push(`${name} ${reason}`),
    });
    const tool = sampleTool({ schema: large });
    const unusable = {
      code: 'SERVICE_UNAVAILABLE',
      retryable: false,
      message: 'Nobody can call files:read_file: its input schema takes too much time or memory to compile',
    };
    expect(validator.unusable(tool)).toBeUndefined();
    await expect(validator.check(tool, {}, 'alice')).rejects.toMatchObject(unusable);
    expect(validator.unusable(tool)).toBe('takes too much time or memory to compile');
    expect(() => validator.check(tool, {}, 'alice')).toThrow(expect.objectContaining(unusable));
    expect(told).toEqual(['files:read_file takes too much time or memory to compile']);
    now = 61_000;
    await expect(validator.check(tool, {}, 'alice')).rejects.toMatchObject(unusable);
    expect(told).toHaveLength(2);
    await validator.close();
  });

  test('that is large and invalid says why', async () => {
    const validator = createArgumentValidator();
    const tool = sampleTool({ schema: { ...large, required: 'p1' } });
    await expect(validator.check(tool, {}, 'alice')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(validator.unusable(tool)).toMatch(/^is not valid: .*required/);
    await validator.close();
  });

  test('that is too large is never compiled', async () => {
    const validator = createArgumentValidator();
    const properties = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`p${index}`, { type: 'string' }]));
    expect(() => validator.check(sampleTool({ schema: { properties } }), {}, 'alice')).toThrow('is too large: it has');
    await validator.close();
  });
});

test('[EXEC-1] both threads agree on which arguments fit, and on the messages', async () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const leaf = fc.oneof(
    fc.constantFrom<JsonSchema>(
      {},
      { type: 'string' },
      { type: 'integer', minimum: 2 },
      { type: 'null' },
      { enum: [1, 'x'] },
      { const: 3 },
    ),
    fc.constantFrom<JsonSchema>({ pattern: '^x+$' }, { maxLength: 2 }, { uniqueItems: true }, { $ref: '#' }, { $ref: '#/$defs/d' }),
  );
  const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.record({ type: fc.constant('object'), properties: fc.dictionary(name, tie('schema')), required: fc.uniqueArray(name) }),
      fc.record({ properties: fc.dictionary(name, tie('schema')), additionalProperties: fc.oneof(fc.boolean(), tie('schema')) }),
      fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }), unevaluatedProperties: fc.boolean() }),
      fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ if: tie('schema'), else: tie('schema') }),
      fc.record({ not: tie('schema') }),
      fc.record({ items: tie('schema'), contains: tie('schema') }),
    ),
  })) as { schema: fc.Arbitrary<JsonSchema> };
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(1, 2, 3, 'x', 'xy', 'xxx', null, true),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value')),
    ),
  }));
  const pool = createSchemaThreads();
  const compile = createSchemaCompiler();
  let made = 0;
  await fc.assert(
    fc.asyncProperty(schema, schema, fc.dictionary(name, value), async (root, d, args) => {
      const whole = { ...root, $defs: { d } };
      const outcome = await pool.run({ hash: String(made++), schema: JSON.stringify(whole), args: JSON.stringify(args) }, 'alice');
      let here: unknown;
      try {
        here = { fault: argumentFault(compile(whole), args as JsonObject) };
      } catch (error) {
        here = { unusable: (error as Error).message };
      }
      expect(outcome).toEqual(here);
    }),
    { numRuns: 120 },
  );
  await pool.close();
});
