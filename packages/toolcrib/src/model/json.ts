/** Any value JSON can carry. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

export interface JsonObject {
  [name: string]: Json;
}

/** A JSON Schema (2020-12 unless it says otherwise), kept as the source gave it. */
export type JsonSchema = JsonObject;

/** Neither null nor an array. A value of unknown type is taken for parsed JSON. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined where the text is not JSON. */
export function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
