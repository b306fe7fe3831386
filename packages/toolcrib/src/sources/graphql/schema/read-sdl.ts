import {
  Kind,
  parse,
  type ConstDirectiveNode,
  type DefinitionNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  type TypeNode,
} from 'graphql/language';
import { GraphQLError } from 'graphql/error';
import { CribError } from '../../../model/crib-error.ts';
import { literalValue } from './literal-value.ts';
import { emptyType, type SchemaField, type SchemaType, type TypeTable } from './type-table.ts';

const mostTokens = 10_000_000;

/** Reads the types of a schema in SDL. Throws `VALIDATION_ERROR` with the line and column of a syntax error. */
export function readSdl(text: string): TypeTable {
  const types = new Map<string, SchemaType>();
  const roots: Record<string, string> = {};
  const implementing: [object: string, interfaces: string[]][] = [];
  let description = '';
  let hasSchema = false;

  function typeOf(kind: SchemaType['kind'], name: string): SchemaType {
    let type = types.get(name);
    if (type === undefined) types.set(name, (type = emptyType(kind, name)));
    return type;
  }

  for (const node of definitionsOf(text)) {
    if (node.kind !== Kind.SCHEMA_DEFINITION && node.kind !== Kind.SCHEMA_EXTENSION) {
      readType(node, typeOf, implementing);
      continue;
    }
    hasSchema = true;
    if (node.kind === Kind.SCHEMA_DEFINITION) description = node.description?.value ?? '';
    for (const { operation, type } of node.operationTypes ?? []) roots[operation] = type.name.value;
  }
  for (const [object, interfaces] of implementing) {
    if (types.get(object)?.kind !== 'object') continue;
    for (const name of interfaces) types.get(name)?.possible.add(object);
  }
  const rootOf = (operation: string, usual: string) => roots[operation] ?? (!hasSchema && types.has(usual) ? usual : null);
  return {
    types,
    description,
    query: rootOf('query', 'Query'),
    mutation: rootOf('mutation', 'Mutation'),
    subscription: rootOf('subscription', 'Subscription'),
  };
}

function definitionsOf(text: string): readonly DefinitionNode[] {
  try {
    return parse(text, { noLocation: true, maxLexicalTokens: mostTokens }).definitions;
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const [{ line, column } = { line: 0, column: 0 }] = error.locations ?? [];
    throw new CribError('VALIDATION_ERROR', `The schema cannot be read: line ${line}, column ${column}: ${error.message.slice(0, 500)}`);
  }
}

type TypeOf = (kind: SchemaType['kind'], name: string) => SchemaType;

/** Definitions and extensions of a type are merged, in any order. */
function readType(node: DefinitionNode, typeOf: TypeOf, implementing: [string, string[]][]): void {
  switch (node.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.OBJECT_TYPE_EXTENSION:
    case Kind.INTERFACE_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_EXTENSION: {
      const isObject = node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.OBJECT_TYPE_EXTENSION;
      const type = described(typeOf(isObject ? 'object' : 'interface', node.name.value), node);
      for (const field of node.fields ?? []) type.fields.set(field.name.value, fieldOf(field));
      implementing.push([type.name, (node.interfaces ?? []).map(({ name }) => name.value)]);
      return;
    }
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
    case Kind.INPUT_OBJECT_TYPE_EXTENSION: {
      const type = described(typeOf('input', node.name.value), node);
      for (const field of node.fields ?? []) type.fields.set(field.name.value, inputOf(field));
      type.oneOf ||= directive(node.directives, 'oneOf') !== undefined;
      return;
    }
    case Kind.UNION_TYPE_DEFINITION:
    case Kind.UNION_TYPE_EXTENSION: {
      const type = described(typeOf('union', node.name.value), node);
      for (const { name } of node.types ?? []) type.possible.add(name.value);
      return;
    }
    case Kind.ENUM_TYPE_DEFINITION:
    case Kind.ENUM_TYPE_EXTENSION: {
      const type = described(typeOf('enum', node.name.value), node);
      for (const { name, description, directives } of node.values ?? [])
        type.values.push({ name: name.value, description: description?.value ?? '', deprecated: deprecationOf(directives) });
      return;
    }
    case Kind.SCALAR_TYPE_DEFINITION:
    case Kind.SCALAR_TYPE_EXTENSION: {
      const type = described(typeOf('scalar', node.name.value), node);
      type.specifiedBy ||= argumentOf(directive(node.directives, 'specifiedBy'), 'url');
      return;
    }
    case Kind.OPERATION_DEFINITION:
    case Kind.FRAGMENT_DEFINITION:
      throw new CribError('VALIDATION_ERROR', 'This is a GraphQL query, not a schema: give the schema, which defines types');
    // Custom directives are ignored.
    case Kind.DIRECTIVE_DEFINITION:
    case Kind.DIRECTIVE_EXTENSION:
    case Kind.SCHEMA_DEFINITION:
    case Kind.SCHEMA_EXTENSION:
      return;
  }
}

/** Extensions have no description of their own. */
function described(type: SchemaType, node: DefinitionNode): SchemaType {
  if ('description' in node) type.description ||= node.description?.value ?? '';
  return type;
}

function fieldOf({ name, type, description, directives, arguments: args }: FieldDefinitionNode): SchemaField {
  return {
    name: name.value,
    type: typeText(type),
    description: description?.value ?? '',
    deprecated: deprecationOf(directives),
    args: (args ?? []).map(inputOf),
  };
}

function inputOf({ name, type, description, directives, defaultValue }: InputValueDefinitionNode): SchemaField {
  return {
    name: name.value,
    type: typeText(type),
    description: description?.value ?? '',
    deprecated: deprecationOf(directives),
    args: [],
    default: defaultValue === undefined ? undefined : literalValue(defaultValue),
  };
}

function typeText(node: TypeNode): string {
  switch (node.kind) {
    case Kind.NAMED_TYPE:
      return node.name.value;
    case Kind.LIST_TYPE:
      return `[${typeText(node.type)}]`;
    case Kind.NON_NULL_TYPE:
      return `${typeText(node.type)}!`;
  }
}

function directive(directives: readonly ConstDirectiveNode[] | undefined, name: string): ConstDirectiveNode | undefined {
  return directives?.find((found) => found.name.value === name);
}

function deprecationOf(directives: readonly ConstDirectiveNode[] | undefined): string | null {
  const found = directive(directives, 'deprecated');
  return found === undefined ? null : argumentOf(found, 'reason');
}

function argumentOf(found: ConstDirectiveNode | undefined, name: string): string {
  const value = found?.arguments?.find((argument) => argument.name.value === name)?.value;
  return value?.kind === Kind.STRING ? value.value : '';
}
