import { Kind, type ValueNode } from 'graphql/language';
import type { Json } from '../../../model/json.ts';

/** A literal as JSON. A number that JSON cannot hold exactly stays text. A variable is null. */
export function literalValue(node: ValueNode): Json {
  switch (node.kind) {
    case Kind.NULL:
    case Kind.VARIABLE:
      return null;
    case Kind.BOOLEAN:
    case Kind.STRING:
    case Kind.ENUM:
      return node.value;
    case Kind.INT:
      return Number.isSafeInteger(Number(node.value)) ? Number(node.value) : node.value;
    case Kind.FLOAT:
      return Number.isFinite(Number(node.value)) ? Number(node.value) : node.value;
    case Kind.LIST:
      return node.values.map(literalValue);
    case Kind.OBJECT:
      return Object.fromEntries(node.fields.map(({ name, value }) => [name.value, literalValue(value)]));
  }
}
