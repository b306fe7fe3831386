import { isObject, type Json } from '../../../model/json.ts';

const isCount = (value: Json) => typeof value === 'number' && Number.isInteger(value) && value >= 0;
const isNumber = (value: Json) => typeof value === 'number' && Number.isFinite(value);
const isText = (value: Json) => typeof value === 'string';
const isTexts = (value: Json) => Array.isArray(value) && value.every(isText);
const longestDefault = 1000;

/** Keywords that are copied if JSON Schema allows their value, and left out otherwise: one wrong value makes the whole schema invalid. */
export const plainKeywords: Record<string, (value: Json) => boolean> = {
  multipleOf: (value) => isNumber(value) && (value as number) > 0,
  maximum: isNumber,
  minimum: isNumber,
  exclusiveMaximum: isNumber,
  exclusiveMinimum: isNumber,
  maxLength: isCount,
  minLength: isCount,
  maxItems: isCount,
  minItems: isCount,
  maxContains: isCount,
  minContains: isCount,
  maxProperties: isCount,
  minProperties: isCount,
  uniqueItems: (value) => typeof value === 'boolean',
  const: () => true,
  default: (value) => JSON.stringify(value).length <= longestDefault,
  deprecated: (value) => value === true,
  format: isText,
  contentMediaType: isText,
  dependentRequired: (value) => isObject(value) && Object.values(value).every(isTexts),
};

/** Keywords with one schema for the same value. */
export const inPlaceKeywords = new Set(['not', 'if', 'then', 'else']);
/** Keywords with a list of schemas for the same value. */
export const inPlaceLists = new Set(['allOf', 'anyOf', 'oneOf']);
/** Keywords with one schema for a part of the value. */
export const innerKeywords = new Set([
  'items',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contains',
  'propertyNames',
]);

const types = new Set(['null', 'boolean', 'object', 'array', 'number', 'string', 'integer']);

/** `file` is from Swagger 2.0; the others are common mistakes with a clear meaning. */
const otherNames: Record<string, string> = {
  file: 'string',
  int: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  bool: 'boolean',
};

/** The given types, without those that JSON Schema does not know. */
export function typesOf(value: Json | undefined): string[] {
  const given = (Array.isArray(value) ? value : [value]).filter((type) => typeof type === 'string');
  return [...new Set(given.map((type) => (Object.hasOwn(otherNames, type) ? (otherNames[type] ?? type) : type)))].filter((type) =>
    types.has(type),
  );
}
