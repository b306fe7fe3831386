import type { Json } from '../../../model/json.ts';

/**
 * The types of a schema, as far as tools need them. We do not use `buildSchema`, because it refuses a whole schema for one fault; here only
 * the faulty field is left out.
 */
export interface TypeTable {
  readonly types: ReadonlyMap<string, SchemaType>;
  /** The name of the root type of each operation; null if there is none. */
  readonly query: string | null;
  readonly mutation: string | null;
  readonly subscription: string | null;
  readonly description: string;
}

export interface SchemaType {
  kind: 'scalar' | 'object' | 'interface' | 'union' | 'enum' | 'input';
  name: string;
  description: string;
  /** Of objects, interfaces and inputs. */
  fields: Map<string, SchemaField>;
  /** Of enums. */
  values: EnumValue[];
  /** Of unions and interfaces: the possible object types. */
  possible: Set<string>;
  /** Of inputs: exactly one field must be given. */
  oneOf: boolean;
  /** Of scalars: the address of the specification; empty if there is none. */
  specifiedBy: string;
}

export interface SchemaField {
  name: string;
  /** As GraphQL writes it: `[Pet!]!`. */
  type: string;
  description: string;
  /** The reason; null if the field is not deprecated. */
  deprecated: string | null;
  args: SchemaField[];
  /** Of arguments and fields of inputs; undefined if there is no default. */
  default?: Json | undefined;
}

export interface EnumValue {
  name: string;
  description: string;
  deprecated: string | null;
}

export const builtInScalars = ['Int', 'Float', 'String', 'Boolean', 'ID'] as const;

export function emptyType(kind: SchemaType['kind'], name: string): SchemaType {
  return { kind, name, description: '', fields: new Map(), values: [], possible: new Set(), oneOf: false, specifiedBy: '' };
}

/** Whether this is a valid GraphQL name. Names that begin with `__` are reserved. */
export function isName(text: string): boolean {
  return /^(?!__)[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(text);
}

/** The name inside a type as GraphQL writes it: `Pet` in `[Pet!]!`. */
export function namedType(type: string): string {
  return type.replaceAll(/[[\]!]/g, '');
}

export function isNonNull(type: string): boolean {
  return type.endsWith('!');
}

export function nullable(type: string): string {
  return isNonNull(type) ? type.slice(0, -1) : type;
}

/** The type of a list's items; undefined if the type is not a list. */
export function itemType(type: string): string | undefined {
  const list = nullable(type);
  return list.startsWith('[') ? list.slice(1, -1) : undefined;
}

/** Whether a value must be given: it cannot be null and has no default. */
export function isRequired({ type, default: usual }: SchemaField): boolean {
  return isNonNull(type) && usual === undefined;
}

/** Whether the type has fields to select. */
export function isComposite(type: SchemaType | undefined): boolean {
  return type?.kind === 'object' || type?.kind === 'interface' || type?.kind === 'union';
}

export function isLeaf(type: SchemaType | undefined): boolean {
  return type?.kind === 'scalar' || type?.kind === 'enum';
}
