import { isObject, type Json, type JsonObject } from '../model/json.ts';

const typeNames = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

type Fits = (value: Json) => boolean;
const isText: Fits = (value) => typeof value === 'string';
const isNumber: Fits = (value) => typeof value === 'number';
const isTexts: Fits = (value) => Array.isArray(value) && value.every(isText);

/** The keywords that the public client looks at, and what it takes for each. */
const plainKeywords: Record<string, Fits> = {
  $schema: isText,
  $id: isText,
  title: isText,
  description: isText,
  format: isText,
  pattern: isText,
  required: isTexts,
  type: (value) => (typeof value === 'string' ? typeNames.has(value) : isTexts(value)),
  enum: Array.isArray,
  examples: Array.isArray,
  minimum: isNumber,
  maximum: isNumber,
  minLength: isNumber,
  maxLength: isNumber,
};

/**
 * [UTCP-1] A schema as the public client takes it: the very same, but for what would make it refuse the whole manual. `true` and `false`
 * where it wants an object are written as what they mean, and keywords that no JSON Schema allows are left out.
 */
export function utcpSchema(schema: Json): JsonObject {
  if (!isObject(schema)) return schema === false ? { not: {} } : {};
  return Object.fromEntries(Object.entries(schema).flatMap(([keyword, value]) => keywordOf(keyword, value)));
}

function keywordOf(keyword: string, value: Json): [string, Json][] {
  switch (keyword) {
    case 'properties':
      return isObject(value)
        ? [[keyword, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, utcpSchema(inner)]))]]
        : [];
    case 'items':
      return [[keyword, Array.isArray(value) ? value.map(utcpSchema) : utcpSchema(value)]];
    case 'additionalProperties':
      return [[keyword, typeof value === 'boolean' ? value : utcpSchema(value)]];
    default:
      return Object.hasOwn(plainKeywords, keyword) && plainKeywords[keyword]?.(value) !== true ? [] : [[keyword, value]];
  }
}
