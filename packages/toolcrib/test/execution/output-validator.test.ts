import { describe, expect, test } from 'vitest';
import { createOutputValidator } from '../../src/execution/output-validator.ts';
import { schemaCost } from '../../src/execution/schema-cost.ts';
import type { Json, JsonSchema } from '../../src/model/json.ts';
import type { Tool } from '../../src/model/tool.ts';
import { sampleTool } from '../fixtures/samples.ts';

function toolWith(output_schema: JsonSchema | undefined): Tool {
  const tool = sampleTool();
  return {
    ...tool,
    execution_mode: 'mcp_call',
    definition_hash: JSON.stringify(output_schema ?? ''),
    definition: { ...tool.definition, output_schema },
  };
}

const violation = (schema: JsonSchema | undefined, structured_content: Json | undefined, is_error = false) =>
  createOutputValidator().violation(toolWith(schema), { content: [], structured_content, is_error });

const sum = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'], additionalProperties: false };

describe('[MCP-7] an answer', () => {
  test.each<[string, JsonSchema | undefined, Json | undefined, string | undefined]>([
    ['that fits', sum, { sum: 1 }, undefined],
    ['of a tool without a schema', undefined, { any: 'thing' }, undefined],
    ['with another type', sum, { sum: 'one' }, 'structured_content.sum must be number'],
    ['that lacks something', sum, {}, 'structured_content.sum is required'],
    ['with something more', sum, { sum: 1, more: 2 }, 'structured_content.more is not in the schema'],
    ['without structured content', sum, undefined, 'there is no structured content'],
    ['of a tool whose schema is none', { type: 'nonsense' }, { sum: 1 }, undefined],
    ['that fits a referenced part', { $ref: '#/$defs/sum', $defs: { sum } }, { sum: 'x' }, 'structured_content.sum must be number'],
    ['of a tool whose schema refers to itself', { properties: { in: { $ref: '#' } }, required: ['x'] }, { in: {} }, undefined],
    ['that is too large to be looked at', { type: 'array' }, { words: 'x'.repeat(300_000) }, undefined],
  ])('%s', (_which, schema, structured, expected) => expect(violation(schema, structured)).toBe(expected));

  test('that says it failed is not held to the schema', () => {
    expect(violation(sum, { message: 'no' }, true)).toBeUndefined();
  });
});

describe('[MCP-7] what a schema costs', () => {
  /** Each of the definitions asks twice for the next one. */
  const doubling = (levels: number): JsonSchema => {
    const $defs: JsonSchema = { [`d${levels}`]: { type: 'number' } };
    for (let level = 0; level < levels; level++) {
      const next = { $ref: `#/$defs/d${level + 1}` };
      $defs[`d${level}`] = { anyOf: [next, next] };
    }
    return { $ref: '#/$defs/d0', $defs };
  };
  let deep: JsonSchema = {};
  for (let level = 0; level < 50_000; level++) deep = { not: deep };

  test.each<[string, JsonSchema, number]>([
    ['that refers to itself', { items: { $ref: '#' } }, Infinity],
    [
      'that refers to itself by a detour',
      { $ref: '#/$defs/a', $defs: { a: { not: { $ref: '#/$defs/b' } }, b: { $ref: '#/$defs/a' } } },
      Infinity,
    ],
    ['that refers elsewhere', { $ref: 'https://example.com/schema' }, Infinity],
    ['that refers to nothing', { $ref: '#/$defs/none' }, Infinity],
    ['with dynamic references', { $dynamicRef: '#node' }, Infinity],
    ['that doubles at every level', doubling(40), 1e9],
    ['nested deeper than can be followed', deep, Infinity],
    ['with a pattern of many steps', { pattern: '(a{500}b{500})' }, 5000],
  ])('one %s is more than is ever checked', (_which, schema, least) => expect(schemaCost(schema)).toBeGreaterThanOrEqual(least));

  test('an ordinary one is little', () => {
    expect(schemaCost({ ...sum, properties: { a: { pattern: '^[a-z]+$' }, b: { enum: [1, 2, 3] } } })).toBeLessThan(1000);
    expect(schemaCost({ properties: { $ref: { type: 'string' } } })).toBeLessThan(10);
  });
});
