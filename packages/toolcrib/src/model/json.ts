/** Any value JSON can carry. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

export interface JsonObject {
  [name: string]: Json;
}

/** A JSON Schema (2020-12 unless it says otherwise), kept as the source gave it. */
export type JsonSchema = JsonObject;
