import { expect, test } from 'vitest';
import type { JsonObject, JsonSchema } from '../../src/model/json.ts';
import { builtinTools } from '../../src/sources/builtin/builtin-tools.ts';
import { createBuiltinSource } from '../../src/sources/builtin/builtin-source.ts';
import { ajv, contextOf, openBuiltins, smallCatalogue, toolNamed } from './builtin-caller.ts';

test('[BI-1] [BI-2] discovery lists every built-in tool with the version it was given', async () => {
  await using builtins = openBuiltins({ version: '1.2.3' });
  const found = builtins.tools;
  expect(found.map(({ definition }) => definition.name)).toEqual([
    'current_time',
    'wait',
    'json_query',
    'text_diff',
    'calculator',
    'convert_units',
    'uuid',
    'hash',
    'search_tools',
    'describe_tool',
    'call_tool',
  ]);
  for (const tool of found) expect(tool).toMatchObject({ execution_mode: 'builtin', version: '1.2.3' });
});

test.each(builtinTools.map((tool) => [tool.definition.name, tool] as const))(
  '[BI-1] %s has strict schemas, a description of every argument, annotations and tags',
  (name, { definition, tags }) => {
    const { input_schema: input, output_schema: output } = definition;
    expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(definition.description.length).toBeGreaterThan(40);
    expect(input).toMatchObject({ type: 'object', additionalProperties: false, required: expect.any(Array) });
    ajv.compile(input);
    ajv.compile(output ?? {});
    expect(output ?? { type: 'object' }).toMatchObject({ type: 'object' });
    const properties: JsonObject[] = Object.values(propertiesOf(input));
    for (const property of properties) expect(property).toMatchObject({ description: expect.any(String) });
    // A string without a longest length lets a caller send anything.
    for (const text of properties.filter(({ type, enum: choices }) => type === 'string' && !choices)) {
      expect(text).toMatchObject({ maxLength: expect.any(Number) });
    }
    expect(definition.annotations).toMatchObject({
      readOnlyHint: expect.any(Boolean),
      idempotentHint: expect.any(Boolean),
      openWorldHint: expect.any(Boolean),
    });
    expect(tags.length).toBeGreaterThan(0);
  },
);

test('a name the source does not have is NOT_FOUND, also when it is a name every object has', async () => {
  const source = createBuiltinSource({ catalogue: smallCatalogue });
  for (const name of ['nothing', 'constructor', '__proto__', 'toString']) {
    const tool = { ...toolNamed('uuid'), definition: { ...toolNamed('uuid').definition, name } };
    expect(() => source.call(tool, {}, contextOf())).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  }
  await source.close();
});

test('arguments of the wrong type are refused even where nobody validated them', async () => {
  const source = createBuiltinSource({ catalogue: smallCatalogue });
  const wrong = [
    ['calculator', { expression: 5 }],
    ['hash', { text: 'a', algorithm: 'constructor' }],
    ['convert_units', { value: '5', from: 'm', to: 'km' }],
    ['current_time', { time_zone: {} }],
    ['uuid', { count: 'many' }],
  ] as const;
  for (const [name, args] of wrong) {
    expect(() => source.call(toolNamed(name), args, contextOf())).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  }
  await source.close();
});

function propertiesOf(schema: JsonSchema): Record<string, JsonObject> {
  return schema.properties as Record<string, JsonObject>;
}
