import { isObject, type Json, type JsonObject, type JsonSchema } from '../../../model/json.ts';

/** A parameter of a tool that is repeated in a header, so that proxies can route by it (SEP-2243). */
export interface ParamHeader {
  path: readonly string[];
  name: string;
}

type FoundHeaders = { valid: true; headers: ParamHeader[] } | { valid: false; reason: string };

const annotation = 'x-mcp-header';
/** RFC 9110 §5.1 */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const annotatedTypes = new Set<unknown>(['string', 'integer', 'boolean']);
const partKeywords =
  'items prefixItems contains additionalProperties unevaluatedProperties unevaluatedItems propertyNames oneOf anyOf allOf not if then else'.split(
    ' ',
  );
const mapKeywords = ['patternProperties', 'dependentSchemas', '$defs', 'definitions'];

/** Which parameters go into headers. An annotation anywhere but on a plain parameter makes the tool unusable over HTTP. */
export function findParamHeaders(schema: JsonSchema): FoundHeaders {
  const headers: ParamHeader[] = [];
  const reason = faultIn(schema, [], headers);
  return reason === undefined ? { valid: true, headers } : { valid: false, reason };
}

/** `path` is undefined where property names alone do not lead to the value. */
function faultIn(schema: Json, path: readonly string[] | undefined, headers: ParamHeader[]): string | undefined {
  if (!isObject(schema)) return undefined;
  if (Object.hasOwn(schema, annotation)) {
    const fault = take(schema, path, headers);
    if (fault !== undefined) return fault;
  }
  const parts = partKeywords.flatMap((keyword) => schema[keyword] ?? []);
  const mapped = mapKeywords.flatMap((keyword) => Object.values(objectAt(schema, keyword)));
  const named = Object.entries(objectAt(schema, 'properties'));
  for (const [name, property] of named) {
    const fault = faultIn(property, path && [...path, name], headers);
    if (fault !== undefined) return fault;
  }
  for (const part of [...parts, ...mapped]) {
    const fault = faultIn(part, undefined, headers);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function take(schema: JsonObject, path: readonly string[] | undefined, headers: ParamHeader[]): string | undefined {
  const name = schema[annotation];
  if (path === undefined || path.length === 0) return `${annotation} is not on a plain parameter`;
  const where = `${annotation} of ${path.join('.')}`;
  if (typeof name !== 'string' || !token.test(name)) return `${where} is not the name of a header`;
  if (!annotatedTypes.has(schema['type'])) return `${where} is on something else than a string, an integer or a boolean`;
  if (headers.some((other) => other.name.toLowerCase() === name.toLowerCase())) return `${where} is used twice`;
  headers.push({ path, name });
  return undefined;
}

function objectAt(schema: JsonObject, keyword: string): JsonObject {
  const value = schema[keyword];
  return isObject(value) ? value : {};
}

/** The headers of one call; a parameter that is not given, or not a plain value, has none. */
export function paramHeaders(headers: readonly ParamHeader[], args: JsonObject): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { path, name } of headers) {
    const value = path.reduce<Json | undefined>((node, key) => (isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined), args);
    const text = plainText(value);
    if (text !== undefined) found[`Mcp-Param-${name}`] = headerValue(text);
  }
  return found;
}

/** An integer that JSON cannot represent exactly has none: it would be another number on the other side. */
function plainText(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && (!Number.isInteger(value) || Number.isSafeInteger(value)) ? String(value) : undefined;
}

/** Text that is valid in a header stays unchanged; other text is marked and sent as base64. */
export function headerValue(text: string): string {
  const isSafe = /^[\t\x20-\x7E]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  return isSafe ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
