import type { JsonObject } from '../../../model/json.ts';
import { own } from './node.ts';

/** Where a schema stands in the one around it: it looks at a part of the value, at all of it, or is one of several that may hold for it. */
export type Standing = 'inside' | 'beside' | 'choice';

/** `nullable` of 3.0, which Swagger 2.0 has as an extension: the value may also be null. */
export function nullable(node: JsonObject, schema: JsonObject, stands: Standing): JsonObject {
  if (own(node, 'nullable') !== true && own(node, 'x-nullable') !== true) return schema;
  const { type, enum: values, $ref, allOf, anyOf, oneOf, ...rest } = schema;
  const parts: JsonObject = Object.fromEntries(
    Object.entries({ $ref, allOf, anyOf, oneOf }).filter(([, part]) => part !== undefined),
  ) as JsonObject;
  if (type !== undefined) {
    const withNull = { ...schema, type: [...new Set([type].flat().concat('null'))] };
    return Array.isArray(values) && !values.includes(null) ? { ...withNull, enum: [...values, null] } : withNull;
  }
  if (Object.keys(parts).length > 0)
    return { ...rest, ...(values === undefined ? {} : { enum: values }), anyOf: [parts, { type: 'null' }] };
  if (Array.isArray(values)) return values.includes(null) ? schema : { ...schema, enum: [...values, null] };
  // A choice that says nothing else means null, and null alone: read as anything, it would make the others meaningless.
  const saysNothing = Object.keys(schema).every((keyword) => keyword === 'description');
  return stands === 'choice' && saysNothing ? { ...schema, type: 'null' } : schema;
}
