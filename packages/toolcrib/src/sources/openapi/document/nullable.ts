import type { JsonObject } from '../../../model/json.ts';
import { own } from '../../documents/node.ts';

/** How a schema relates to the one around it: it describes a part of the value, the same value, or one choice for it. */
export type Position = 'inside' | 'beside' | 'choice';

/** `nullable` in 3.0, an extension in Swagger 2.0: the value may also be null. */
export function nullable(node: JsonObject, schema: JsonObject, position: Position): JsonObject {
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
  // A choice that is only nullable means null: if it allowed anything, the other choices would be pointless.
  const saysNothing = Object.keys(schema).every((keyword) => keyword === 'description');
  return position === 'choice' && saysNothing ? { ...schema, type: 'null' } : schema;
}
