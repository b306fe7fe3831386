import type { JsonType } from '../../../model/http-operation.ts';
import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import { listAt, own, type Node } from '../../documents/node.ts';
import type { OpenDocument } from './open-document.ts';
import { typesOf } from './schema-keywords.ts';

type Types = ReadonlySet<JsonType>;

export const everyType: JsonType[] = ['null', 'boolean', 'number', 'string', 'array', 'object'];

/** Limits the work on hostile documents; ordinary documents never reach this. */
const mostSchemas = 200;

/** The types of the values that a schema is meant for; undefined if the schema does not say. */
export function valueTypes(document: OpenDocument, schema: Node): Types | undefined {
  let left = mostSchemas;

  function typesAt(node: Node): Types | undefined {
    if (!isObject(node) || left-- <= 0) return undefined;
    const reference = own(node, '$ref');
    const all = [
      ownTypes(node),
      typeof reference === 'string' && reference.startsWith('#') ? typesAt(document.find(reference)) : undefined,
      ...listAt(own(node, 'allOf')).map(typesAt),
      anyOfThese(listAt(own(node, 'anyOf'))),
      anyOfThese(listAt(own(node, 'oneOf'))),
    ].filter((types) => types !== undefined);
    if (all.length === 0) return undefined;
    const isNullable = own(node, 'nullable') === true || own(node, 'x-nullable') === true;
    return new Set(everyType.filter((type) => all.every((types) => types.has(type)) || (isNullable && type === 'null')));
  }

  function anyOfThese(members: Json[]): Types | undefined {
    const each = members.map(typesAt);
    return each.length === 0 || each.includes(undefined)
      ? undefined
      : new Set(everyType.filter((type) => each.some((types) => types?.has(type))));
  }

  return typesAt(schema);
}

/** `properties` and `items` restrict no type, but documents use them only for objects and lists. */
function ownTypes(node: JsonObject): Types | undefined {
  const types = typesOf(own(node, 'type'));
  if (types.length > 0) return new Set(types.map((type) => (type === 'integer' ? 'number' : (type as JsonType))));
  const values = Object.hasOwn(node, 'const') ? [node['const'] ?? null] : listAt(own(node, 'enum'));
  if (values.length > 0) return new Set(values.map(jsonType));
  if (['properties', 'required', 'additionalProperties'].some((keyword) => Object.hasOwn(node, keyword))) return new Set(['object']);
  return Object.hasOwn(node, 'items') ? new Set(['array']) : undefined;
}

function jsonType(value: Json): JsonType {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : (typeof value as JsonType);
}
