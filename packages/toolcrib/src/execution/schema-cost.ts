import { RE2JS } from 're2js';
import type { Json, JsonObject, JsonSchema } from '../model/json.ts';

/** Keywords that lead to another part of the schema in a way that depends on the value. */
const dynamic = new Set(['$dynamicRef', '$recursiveRef', '$dynamicAnchor', '$recursiveAnchor']);
/** Every item is written as text and compared. */
const uniqueItemsCost = 50;

/**
 * About how much work a schema makes for each byte of what it is asked about, with all references followed. Infinite where it refers to
 * itself: such a schema can make work that doubles with every level. Whoever wrote the schema also wrote the value, and may mean harm.
 */
export function schemaCost(schema: JsonSchema): number {
  const known = new Map<Json, number>();

  function costOf(value: Json | undefined): number {
    if (typeof value !== 'object' || value === null) return 1;
    const before = known.get(value);
    if (before !== undefined) return before;
    // Whoever comes here again before this is done has gone in a circle.
    known.set(value, Infinity);
    let cost = 1;
    for (const [name, inner] of Object.entries(value)) cost += Array.isArray(value) ? costOf(inner) : keywordCost(name, inner);
    known.set(value, cost);
    return cost;
  }

  function keywordCost(name: string, value: Json): number {
    if (dynamic.has(name)) return Infinity;
    if (name === '$ref' && typeof value === 'string') return targetCost(value);
    if (name === 'pattern' && typeof value === 'string') return patternCost(value);
    if (name === 'patternProperties') return Object.keys(value ?? {}).reduce((sum, pattern) => sum + patternCost(pattern), costOf(value));
    return (name === 'uniqueItems' ? uniqueItemsCost : 0) + costOf(value);
  }

  function targetCost(reference: string): number {
    const target = reference.startsWith('#') ? find(schema, reference.slice(1)) : undefined;
    return target === undefined ? Infinity : costOf(target);
  }

  try {
    return costOf(schema);
  } catch (error) {
    // Nested deeper than can be followed.
    if (error instanceof RangeError) return Infinity;
    throw error;
  }
}

/** RFC 6901. */
function find(schema: JsonSchema, pointer: string): Json | undefined {
  let found: Json | undefined = schema;
  for (const segment of decodeURIComponent(pointer).split('/').slice(1)) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as JsonObject)[segment.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return found;
}

/** One step for each instruction and character, each dearer than what a schema does otherwise. What does not compile lets everything through. */
function patternCost(pattern: string): number {
  try {
    return 10 * RE2JS.compile(pattern).programSize();
  } catch {
    return 1;
  }
}
