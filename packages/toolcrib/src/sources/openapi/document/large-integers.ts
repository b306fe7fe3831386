import type { Json, JsonObject } from '../../../model/json.ts';
import { own } from '../../documents/node.ts';

/** Patterns for integers of more than 53 bits, given as text. Smaller integers must be numbers, which hold them exactly. */
const texts: Record<string, string> = { int64: '^-?[1-9][0-9]{15,18}$', uint64: '^[1-9][0-9]{15,19}$' };

/** [OAS-3] Accepts text beside numbers for integers that may be too large for an exact number; undefined for all others. */
export function largeIntegers(types: readonly string[], node: JsonObject): JsonObject | undefined {
  const format = own(node, 'format');
  const pattern = typeof format === 'string' && Object.hasOwn(texts, format) ? texts[format] : undefined;
  if (pattern === undefined || !types.includes('integer') || types.includes('string')) return undefined;
  const isSmall = (most: Json | undefined) => typeof most === 'number' && most <= Number.MAX_SAFE_INTEGER;
  const hasValues = Object.hasOwn(node, 'enum') || Object.hasOwn(node, 'const');
  if (hasValues || isSmall(own(node, 'maximum')) || isSmall(own(node, 'exclusiveMaximum'))) return undefined;
  return { type: [...types, 'string'], pattern };
}
