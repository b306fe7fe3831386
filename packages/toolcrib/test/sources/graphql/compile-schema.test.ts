import { describe, expect, test } from 'vitest';
import { compiled } from './compiled.ts';

describe('[GQL-1] each query and each mutation is a tool', () => {
  const text = `
    "What the service does" schema { query: Read mutation: Write subscription: Watch }
    type Read { "A pet by its name" pet(name: String!): Pet old: Int @deprecated(reason: "Use pet") }
    type Write { addPet(name: String!): Pet }
    type Watch { petAdded: Pet }
    type Pet { id: ID! name: String }`;

  test('with its description, its operation as a tag, and whether it changes anything', () => {
    const { tools, named, report, skipped } = compiled(text);
    expect(tools.map(({ definition }) => definition.name)).toEqual(['pet', 'old', 'addPet']);
    expect(named('pet')).toMatchObject({
      definition: { description: 'A pet by its name', annotations: { readOnlyHint: true, openWorldHint: true } },
      tags: ['query'],
      execution_mode: 'sync_http',
      plan: {
        operation: 'query',
        field: 'pet',
        endpoint: 'https://api.example/graphql',
        arguments: [{ argument: 'name', name: 'name', type: 'String!' }],
        selection: '{ id name }',
        type: 'Pet',
        select: '_select',
      },
    });
    expect(named('old').definition.description).toBe('Deprecated. Use pet\n\nThe query old, which returns Int');
    expect(named('addPet')).toMatchObject({ definition: { annotations: { readOnlyHint: false } }, tags: ['mutation'] });
    expect(report).toMatchObject({ format: 'GraphQL SDL', operations: 4, tools: 3, servers: ['https://api.example/graphql'] });
    expect(skipped).toEqual([{ operation: 'subscription petAdded', reason: 'A subscription is a stream, but a call has one result' }]);
  });

  test('the types are called Query and Mutation where the schema does not say', () => {
    expect(compiled('type Query { a: Int } extend type Query { b: Int } type Mutation { c: Int }').tools).toHaveLength(3);
  });

  test('a query and a mutation of one name are told apart, whatever their case and order', () => {
    const names = (schema: string) => compiled(schema).tools.map(({ definition }) => definition.name);
    expect(names('type Query { pet: Int other: Int } type Mutation { Pet: Int }')).toEqual(['pet_query', 'other', 'Pet_mutation']);
    expect(names('type Query { pet: Int PET: Int }')).toEqual([
      expect.stringMatching(/^pet_query_[0-9a-f]{8}$/),
      expect.stringMatching(/^PET_query_[0-9a-f]{8}$/),
    ]);
  });

  test('a long name is cut and stays its own', () => {
    const [tool] = compiled(`type Query { ${'a'.repeat(150)}(${'b'.repeat(80)}: Int): Int }`).tools;
    expect(tool?.definition.name).toMatch(/^a{119}_[0-9a-f]{8}$/);
    expect(tool?.plan.arguments).toEqual([{ argument: expect.stringMatching(/^b{55}_[0-9a-f]{8}$/), name: 'b'.repeat(80), type: 'Int' }]);
  });

  test('a schema without queries and mutations says so', () => {
    expect(compiled('type Pet { id: ID }').warnings).toEqual([
      { operation: null, message: 'The schema has neither queries nor mutations, so there are no tools' },
    ]);
  });
});

describe('[GQL-1] a bad part is left out, never the whole schema', () => {
  test('a field of a type that is not there', () => {
    const { tools, skipped } = compiled('type Query { a: Nothing b(x: Nothing!): Int c: Int d(x: T!): Int } type T { c: Int }');
    expect(tools.map(({ definition }) => definition.name)).toEqual(['c']);
    expect(skipped).toEqual([
      { operation: 'query a', reason: 'It returns "Nothing", and the schema has no such type' },
      { operation: 'query b', reason: 'The schema has no type "Nothing"' },
      { operation: 'query d', reason: 'T is not an input type' },
    ]);
  });

  test('a field that is there twice, and a type that is a bit of everything', () => {
    const { named } = compiled('type Query { t: T } type T { id: ID id: ID! name: String } extend type T { more: Int }');
    expect(named('t').plan.selection).toBe('{ id name more }');
  });

  test('names that are none, in an introspection answer', () => {
    const scalar = { kind: 'SCALAR', name: 'Int' };
    const fields = ['fine', 'not fine', '__own', '', 'x'.repeat(300), 'a\n} mutation { b'].map((name) => ({
      name,
      args: [],
      type: scalar,
    }));
    const args = [
      { name: 'a"b', type: scalar },
      { name: 'n', type: scalar, defaultValue: '{{' },
    ];
    const answer = {
      data: {
        __schema: {
          queryType: { name: 'Query' },
          types: [
            {
              kind: 'OBJECT',
              name: 'Query',
              fields: [...fields, { name: 'withArgs', args, type: scalar }, { name: 'deep', args: [], type: nested(100) }, 7],
            },
            { kind: 'OBJECT', name: 'No Name' },
            'nothing',
            null,
            scalar,
          ],
        },
      },
    };
    const { tools, skipped, warnings } = compiled(JSON.stringify(answer));
    expect(tools.map(({ definition }) => definition.name)).toEqual(['fine', 'withArgs']);
    expect(skipped).toHaveLength(6);
    expect(warnings).toEqual([{ operation: 'query withArgs', message: expect.stringContaining('a"b') }]);
  });
});

function nested(depth: number): object {
  return depth === 0 ? { kind: 'SCALAR', name: 'Int' } : { kind: 'LIST', ofType: nested(depth - 1) };
}

test.each([
  ['a syntax error', 'type Query {\n  a: Int\n  b Int\n}', /line 3, column 5: .*Expected ":"/],
  ['a query', 'query { a }', /This is a GraphQL query, not a schema/],
  ['a page', '<!doctype html>', /an HTML or XML page/],
  ['other JSON', '{"openapi": "3.1.0"}', /It has openapi, but no __schema/],
  ['JSON that is none', '{"data": ', /begins like JSON but is not valid JSON/],
])('%s is refused with the reason', (_what, text, words) => {
  expect(() => compiled(text)).toThrow(words);
});
