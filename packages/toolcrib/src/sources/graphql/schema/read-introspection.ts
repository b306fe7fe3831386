import { parseConstValue } from 'graphql/language';
import { CribError } from '../../../model/crib-error.ts';
import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import { literalValue } from './literal-value.ts';
import { emptyType, isName, type EnumValue, type SchemaField, type SchemaType, type TypeTable } from './type-table.ts';

const kinds: Record<string, SchemaType['kind']> = {
  SCALAR: 'scalar',
  OBJECT: 'object',
  INTERFACE: 'interface',
  UNION: 'union',
  ENUM: 'enum',
  INPUT_OBJECT: 'input',
};
const deepestType = 50;

/** Reads the types from an introspection response, with or without `data` around them. Invalid parts are left out. */
export function readIntrospection(answer: Json): TypeTable {
  const schema = objectAt(at(objectAt(at(answer, 'data') ?? answer), '__schema'));
  if (!Array.isArray(schema['types'])) throw notIntrospection(answer);
  const types = new Map<string, SchemaType>();
  for (const node of schema['types']) {
    const kind = kinds[textAt(at(node, 'kind'))];
    const name = textAt(at(node, 'name'));
    if (kind === undefined || !isName(name) || types.has(name)) continue;
    types.set(name, readType(emptyType(kind, name), objectAt(node)));
  }
  const rootOf = (field: string) => textAt(at(schema[field], 'name')) || null;
  return {
    types,
    description: textAt(schema['description']),
    query: rootOf('queryType'),
    mutation: rootOf('mutationType'),
    subscription: rootOf('subscriptionType'),
  };
}

function readType(type: SchemaType, node: JsonObject): SchemaType {
  type.description = textAt(node['description']);
  type.specifiedBy = textAt(node['specifiedByURL']);
  type.oneOf = node['isOneOf'] === true;
  for (const field of listAt(node['fields'])) {
    const args = listAt(at(field, 'args')).map((argument) => fieldOf(argument, []));
    addField(type, fieldOf(field, args));
  }
  for (const field of listAt(node['inputFields'])) addField(type, fieldOf(field, []));
  for (const possible of listAt(node['possibleTypes'])) type.possible.add(textAt(at(possible, 'name')));
  const values = listAt(node['enumValues']).map((value): EnumValue => Object.assign(namesOf(value), { deprecated: deprecationOf(value) }));
  type.values = values.filter(({ name }) => isName(name));
  return type;
}

function addField(type: SchemaType, field: SchemaField): void {
  if (!type.fields.has(field.name)) type.fields.set(field.name, field);
}

function fieldOf(node: Json, args: SchemaField[]): SchemaField {
  return { ...namesOf(node), type: typeText(at(node, 'type'), 0), deprecated: deprecationOf(node), args, default: defaultOf(node) };
}

function namesOf(node: Json): { name: string; description: string } {
  return { name: textAt(at(node, 'name')), description: textAt(at(node, 'description')) };
}

/** Empty if the type is missing or nested too deeply. No type has an empty name, so the field is left out. */
function typeText(node: Json | undefined, depth: number): string {
  const inner = at(node, 'ofType');
  if (depth > deepestType || node === undefined) return '';
  const kind = at(node, 'kind');
  if (kind === 'NON_NULL') return `${typeText(inner, depth + 1)}!`;
  if (kind === 'LIST') return `[${typeText(inner, depth + 1)}]`;
  return textAt(at(node, 'name'));
}

function deprecationOf(node: Json): string | null {
  return at(node, 'isDeprecated') === true ? textAt(at(node, 'deprecationReason')) : null;
}

/** Introspection gives defaults as GraphQL literals. A default that cannot be parsed is null, so that the argument stays optional. */
function defaultOf(node: Json): Json | undefined {
  const text = at(node, 'defaultValue');
  if (typeof text !== 'string') return undefined;
  try {
    return literalValue(parseConstValue(text, { noLocation: true }));
  } catch {
    return null;
  }
}

function at(node: Json | undefined, name: string): Json | undefined {
  return isObject(node) && Object.hasOwn(node, name) ? node[name] : undefined;
}

function objectAt(node: Json | undefined): JsonObject {
  return isObject(node) ? node : {};
}

function listAt(node: Json | undefined): Json[] {
  return Array.isArray(node) ? node : [];
}

function textAt(node: Json | undefined): string {
  return typeof node === 'string' ? node : '';
}

function notIntrospection(answer: Json): CribError {
  const names = Object.keys(objectAt(answer)).slice(0, 5).join(', ').slice(0, 200);
  const what = names === '' ? 'It has no __schema.' : `It has ${names}, but no __schema.`;
  return new CribError('VALIDATION_ERROR', `This JSON is not the response to an introspection query. ${what}`);
}
