import { expect, test } from 'vitest';
import { chosenSelection } from '../../../src/sources/graphql/call/chosen-selection.ts';
import { readSchema } from '../../../src/sources/graphql/schema/read-schema.ts';
import { selectableTypes } from '../../../src/sources/graphql/schema/selectable-types.ts';

const { table } = readSchema(`
  type Query { pet: Pet }
  type Pet { id: ID! name(upper: Boolean): String owner: Owner friends(first: Int!, after: String): [Pet!] thing: Thing }
  type Owner { id: ID! login: String }
  union Thing = Ball | Bone
  type Ball { color: String }
  type Bone { size: Int }`);
const types = selectableTypes(table) ?? {};
const choose = (text: string) => chosenSelection(text, { argument: '_select', type: 'Pet', types }).replaceAll(/\s+/g, ' ');

test.each([
  ['{ id name }', '{ id name }'],
  ['id owner { login }', '{ id owner { login } }'],
  ['{ short: name(upper: true) __typename }', '{ short: name(upper: true) __typename }'],
  ['{ friends(first: 2, after: "a b") { id } }', '{ friends(first: 2, after: "a b") { id } }'],
  [
    '{ thing { __typename ... on Ball { color } ... { __typename } } }',
    '{ thing { __typename ... on Ball { color } ... { __typename } } }',
  ],
  ['# comments are dropped\n{ id, , name }', '{ id name }'],
])('%s is sent', (text, sent) => expect(choose(text)).toBe(sent));

test.each([
  ['{ nam }', 'arguments._select asks for nam, which Pet does not have. Did you mean name?'],
  ['{ owner }', 'must say which fields of Pet.owner to return: owner { id login }'],
  ['{ id { x } }', 'selects fields of Pet.id, which has none'],
  ['{ thing { color } }', 'asks for color, which Thing does not have. Ball has it: write ... on Ball { color }'],
  ['{ ... on Cat { id } }', 'names the type Cat, which has no fields in this schema'],
  ['{ friends { id } }', 'must give Pet.friends the argument first'],
  ['{ name(uper: true) }', 'gives Pet.name the argument uper, which it does not take. Did you mean upper?'],
  ['{ friends(first: $n) { id } }', 'must have no variables'],
  ['{ ...Parts }', 'refers to the fragment Parts: write it inline'],
  ['{ id @include(if: true) }', 'must have no directives'],
  ['{ id } mutation { deleteEverything }', 'must be one selection and nothing else'],
  ['id } mutation M { deleteEverything', 'must be one selection and nothing else'],
  ['query { id }', 'asks for query, which Pet does not have'],
  ['{ id } fragment F on Pet { id }', 'must be one selection and nothing else'],
  ['{ id', 'is not a GraphQL selection: Syntax Error'],
  ['', 'selects no fields of Pet: write it like { id }'],
  ['{ owner { } }', 'selects no fields of Owner'],
  ['{ constructor __proto__ }', 'asks for constructor'],
])('%s is refused before anything is sent', (text, words) => {
  const refusal = { code: 'VALIDATION_ERROR', origin: 'caller', field: 'arguments._select', message: expect.stringContaining(words) };
  expect(() => choose(text)).toThrow(expect.objectContaining(refusal));
});

test.each([
  ['nested too deeply', `{ ${'friends(first: 1) { '.repeat(20)} id ${'} '.repeat(20)} }`, 'is nested deeper than 15 levels'],
  ['of too many fields', `{ ${'a: id '.repeat(600)} }`, 'selects more than 500 fields'],
  ['too long', `{ ${'x'.repeat(21_000)} }`, 'has more than 20000 characters'],
  ['nested without end', `{ ${'a{'.repeat(9000)}`, 'is n'],
])('a selection that is %s is refused', (_what, text, words) => {
  expect(() => choose(text)).toThrow(words);
});
