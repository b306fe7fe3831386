import { expect, test } from 'vitest';
import { canonicalJson } from '../../src/model/canonical-json.ts';
import { definitionHash } from '../../src/inventory/definition-hash.ts';
import type { JsonSchema } from '../../src/model/json.ts';
import type { ToolDefinition } from '../../src/model/tool.ts';

const definition: ToolDefinition = {
  name: 'read',
  title: 'Read',
  description: 'Reads a file',
  input_schema: { type: 'object', properties: { path: { type: 'string', enum: ['a', 'b'] } }, required: ['path'] },
  output_schema: { type: 'string' },
  annotations: { readOnlyHint: true },
};

test('the order of keys does not change a hash', () => {
  const { properties, type, ...rest } = definition.input_schema;
  const turned = Object.fromEntries(Object.entries({ ...definition, input_schema: { ...rest, properties, type } }).toReversed());
  expect(definitionHash(turned as unknown as ToolDefinition)).toBe(definitionHash(definition));
});

test.each<[string, Partial<ToolDefinition>]>([
  ['name', { name: 'Read' }],
  ['title', { title: 'read' }],
  ['missing title', { title: undefined }],
  ['description', { description: 'Reads a file ' }],
  ['hidden sign in the description', { description: 'Reads a file\u200b' }],
  [
    'description of a parameter',
    { input_schema: { ...definition.input_schema, properties: { path: { type: 'string', description: 'x' } } } },
  ],
  ['order of a list', { input_schema: { ...definition.input_schema, properties: { path: { type: 'string', enum: ['b', 'a'] } } } }],
  ['parameter named __proto__', { input_schema: JSON.parse('{"type": "object", "__proto__": {"a": 1}}') as JsonSchema }],
  ['output schema', { output_schema: {} }],
  ['annotations', { annotations: { readOnlyHint: false } }],
])('a changed %s changes the hash', (_what, change) => {
  expect(definitionHash({ ...definition, ...change })).not.toBe(definitionHash(definition));
});

test('canonical JSON keeps a key named __proto__', () => {
  expect(canonicalJson(JSON.parse('{"b": 1, "a": {"__proto__": {"d": 1, "c": 2}}}'))).toBe('{"a":{"__proto__":{"c":2,"d":1}},"b":1}');
});
