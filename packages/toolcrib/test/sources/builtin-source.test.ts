import { expect, test } from 'vitest';
import type { JsonObject, JsonSchema } from '../../src/model/json.ts';
import { builtinTools } from '../../src/sources/builtin/builtin-tools.ts';
import { createBuiltinCalls } from '../../src/sources/builtin/builtin-calls.ts';
import { version } from '../../src/version.ts';
import { startTestServer } from '../running-server.ts';
import { ajv, contextOf, smallCatalogue, toolNamed } from './builtin-caller.ts';

test('[BI-1] [BI-2] a server lists every built-in tool with its own version', async () => {
  await using server = await startTestServer();
  const alice = await server.as('alice');
  const { tools } = (await alice.get('/api/bff/tools')).json as { tools: { name: string; version: string; execution_mode: string }[] };
  const found = tools.filter(({ name }) => name.startsWith('builtin:'));
  expect(found.map(({ name }) => name.slice('builtin:'.length)).toSorted()).toEqual(
    [
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
    ].toSorted(),
  );
  for (const tool of found) expect(tool).toMatchObject({ execution_mode: 'builtin', version });
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

test('an unknown name is NOT_FOUND, even if every object has it', async () => {
  const source = createBuiltinCalls({ catalogue: smallCatalogue });
  for (const name of ['nothing', 'constructor', '__proto__', 'toString']) {
    const tool = { ...toolNamed('uuid'), definition: { ...toolNamed('uuid').definition, name } };
    expect(() => source.call(tool, {}, contextOf())).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  }
  await source.close();
});

test('arguments of the wrong type are refused even if nobody validated them', async () => {
  const source = createBuiltinCalls({ catalogue: smallCatalogue });
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
