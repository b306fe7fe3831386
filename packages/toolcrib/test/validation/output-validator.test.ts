import { describe, expect, test } from 'vitest';
import { createOutputValidator } from '../../src/validation/tool-validators.ts';
import type { Json, JsonSchema } from '../../src/model/json.ts';
import type { Tool } from '../../src/model/tool.ts';
import { sampleTool } from '../fixtures/samples.ts';

function toolWith(output_schema: JsonSchema | undefined): Tool {
  const tool = sampleTool();
  return Object.create(tool, {
    execution_mode: { value: 'mcp_call' },
    definition_hash: { value: JSON.stringify(output_schema ?? '') },
    definition: { value: { ...tool.definition, output_schema } },
  }) as Tool;
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
    [
      'of a tool whose schema refers to itself',
      { properties: { in: { $ref: '#' } }, required: ['x'] },
      { in: {}, x: 1 },
      'structured_content.in.x is required',
    ],
    [
      'of a tool whose schema doubles the work with every level',
      { type: 'object', properties: { a: { anyOf: [{ $ref: '#' }, { $ref: '#' }] } } },
      JSON.parse('{"a":'.repeat(40) + '1' + '}'.repeat(40)),
      undefined,
    ],
    [
      'that is too large to be looked at',
      { items: { type: 'string', uniqueItems: true } },
      Array.from({ length: 100_000 }, () => 1),
      undefined,
    ],
  ])('is checked against its schema: one %s', (_which, schema, structured, expected) =>
    expect(violation(schema, structured)).toBe(expected),
  );

  test('that reports a failure is not checked against the schema', () => {
    expect(violation(sum, { message: 'no' }, true)).toBeUndefined();
  });
});
