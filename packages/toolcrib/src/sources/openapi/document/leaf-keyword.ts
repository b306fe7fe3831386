import type { Json, JsonObject } from '../../../model/json.ts';
import { largeIntegers } from './large-integers.ts';
import { cut, listAt, own, textAt } from '../../documents/node.ts';
import { legalPattern } from './pattern.ts';
import { plainKeywords, typesOf } from './schema-keywords.ts';

const longestDescription = 2000;

/** Translates a keyword of `node` that holds no schema. Undefined if JSON Schema cannot express it. */
export function leafKeyword(keyword: string, value: Json, node: JsonObject, warn: (message: string) => void): JsonObject | undefined {
  switch (keyword) {
    case 'type':
      return typeKeyword(value, node, warn);
    case 'enum':
      return enumKeyword(value, node);
    case 'pattern':
      return patternKeyword(value, warn);
    case 'format':
      return formatKeyword(value, node);
    case 'contentEncoding':
      return typeof value === 'string' ? bytes(node) : undefined;
    // Before 3.1 these were booleans that modify `minimum` and `maximum`.
    case 'exclusiveMinimum':
      return plain(keyword, value === true ? (own(node, 'minimum') ?? null) : value);
    case 'exclusiveMaximum':
      return plain(keyword, value === true ? (own(node, 'maximum') ?? null) : value);
    case 'minimum':
      return own(node, 'exclusiveMinimum') === true ? undefined : plain(keyword, value);
    case 'maximum':
      return own(node, 'exclusiveMaximum') === true ? undefined : plain(keyword, value);
    default:
      return plain(keyword, value);
  }
}

function typeKeyword(value: Json, node: JsonObject, warn: (message: string) => void): JsonObject | undefined {
  const types = typesOf(value);
  if (types.length === 0) warn(`JSON Schema has no type ${cut(JSON.stringify(value), 100)}; any type is accepted`);
  if (types.length === 0) return undefined;
  const type = types.length === 1 ? types.join('') : types;
  return value === 'file' ? { type, ...bytes(node) } : (largeIntegers(types, node) ?? { type });
}

function enumKeyword(value: Json, node: JsonObject): JsonObject | undefined {
  const values = listAt(value);
  if (values.length === 0) return undefined;
  // YAML parses `1.0` and `true` as a number and a boolean, even if text is meant.
  const onlyText = own(node, 'type') === 'string';
  return { enum: onlyText ? values.map((one) => (typeof one === 'number' || typeof one === 'boolean' ? String(one) : one)) : values };
}

function patternKeyword(value: Json, warn: (message: string) => void): JsonObject | undefined {
  if (typeof value !== 'string') return undefined;
  const pattern = legalPattern(value);
  if (pattern === undefined) warn(`The pattern ${cut(value, 200)} is not an ECMAScript regular expression; it is left out`);
  return pattern === undefined ? undefined : { pattern };
}

function formatKeyword(value: Json, node: JsonObject): JsonObject | undefined {
  const text = typesOf(own(node, 'type')).includes('string');
  if (text && (value === 'binary' || value === 'byte' || value === 'base64')) return bytes(node);
  return plain('format', value);
}

/** Arguments are JSON, so raw bytes are given in base64. */
function bytes(node: JsonObject): JsonObject {
  const encoding = textAt(own(node, 'contentEncoding')) ?? 'binary';
  return { contentEncoding: encoding === 'binary' ? 'base64' : encoding };
}

function plain(keyword: string, value: Json): JsonObject | undefined {
  return Object.hasOwn(plainKeywords, keyword) && plainKeywords[keyword]?.(value) === true ? { [keyword]: value } : undefined;
}

export function describe(node: JsonObject): JsonObject {
  const description = textAt(own(node, 'description'));
  return description === undefined ? {} : { description: cut(description, longestDescription) };
}
