import type { Json, JsonObject } from '../../../model/json.ts';
import { own } from './node.ts';

/** Integers of more than 53 bits, as text: what a number holds exactly is no text. */
const texts: Record<string, string> = { int64: '^-?[1-9][0-9]{15,18}$', uint64: '^[1-9][0-9]{15,19}$' };

/** [OAS-3] What beside integers is taken where one may be larger than a number can be exactly. */
export function largeIntegers(types: readonly string[], node: JsonObject): JsonObject | undefined {
  const format = own(node, 'format');
  const pattern = typeof format === 'string' && Object.hasOwn(texts, format) ? texts[format] : undefined;
  if (pattern === undefined || !types.includes('integer') || types.includes('string')) return undefined;
  const isSmall = (most: Json | undefined) => typeof most === 'number' && most <= Number.MAX_SAFE_INTEGER;
  const hasValues = Object.hasOwn(node, 'enum') || Object.hasOwn(node, 'const');
  if (hasValues || isSmall(own(node, 'maximum')) || isSmall(own(node, 'exclusiveMaximum'))) return undefined;
  return { type: [...types, 'string'], pattern };
}
