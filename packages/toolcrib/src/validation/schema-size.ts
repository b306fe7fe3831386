import { atReference } from '../model/json-pointer.ts';
import type { Json, JsonObject, JsonSchema } from '../model/json.ts';
import { patternWork } from './pattern-work.ts';

/** Larger schemas are not used at all: no model could read them, and compiling them takes seconds. */
const mostSize = 50_000;

/** Why a schema is too large to use; undefined if it is not. */
export function tooLarge(schema: JsonSchema, size: number = schemaSize(schema)): string | undefined {
  if (size === Infinity) return 'is nested too deeply';
  return size > mostSize ? `is too large: it has ${size} parts, and the limit is ${mostSize}` : undefined;
}

/**
 * How much there is to compile in a schema: its values, the instructions of its regular expressions, and once more each referenced part,
 * which is compiled separately. Infinity if the schema is nested too deeply to follow.
 */
export function schemaSize(schema: JsonSchema): number {
  const sizes = new Map<Json, number>();
  const references = new Set<string>();

  function sizeOf(value: Json): number {
    if (typeof value !== 'object' || value === null) return 1;
    let size = 1;
    for (const inner of Object.values(value)) size += sizeOf(inner);
    if (!Array.isArray(value)) size += expressions(value);
    sizes.set(value, size);
    return size;
  }

  function expressions({ $ref, pattern, patternProperties }: JsonObject): number {
    if (typeof $ref === 'string') references.add($ref);
    let size = typeof pattern === 'string' ? patternWork(pattern) : 0;
    if (typeof patternProperties === 'object') for (const name of Object.keys(patternProperties ?? {})) size += patternWork(name);
    return size;
  }

  try {
    let size = sizeOf(schema);
    for (const reference of references) size += sizes.get(atReference(schema, reference) ?? null) ?? 1;
    return size;
  } catch (error) {
    if (error instanceof RangeError) return Infinity;
    throw error;
  }
}
