import { atReference } from '../model/json-pointer.ts';
import { patternWork } from './pattern-work.ts';
import { isObject, type Json, type JsonObject, type JsonSchema } from '../model/json.ts';

/**
 * Limits for work on the main thread, which blocks all callers. Compiling a schema of this size (`schemaSize`), or a check of this much
 * work, takes some tens of milliseconds at most. See docs/decisions/2026-11-16-costly-schemas-have-threads.md for the measurements.
 */
export const mostSizeHere = 400;
export const mostWorkHere = 250_000;

/** No honest request nests deeper; the cost of a deeper one is unbounded. */
const mostLevels = 64;

/** The work of one schema object itself, without its subschemas. */
interface OwnWork {
  /** For the value that it checks. */
  here(schema: JsonObject): number;
  /** For each part within that value. */
  below(schema: JsonObject): number;
}

const lists = ['enum', 'const', 'required', 'dependentRequired', 'dependencies'] as const;

const perValue: OwnWork = {
  here(schema) {
    let work = 1 + Object.keys(schema).length + entriesOf(schema['properties']).length;
    for (const name of lists) if (schema[name] !== undefined) work += countValues(schema[name]);
    return work;
  },
  // Every item is serialised and compared.
  below: (schema) => (schema['uniqueItems'] === true ? 20 : 0),
};

const perCharacter: OwnWork = {
  here({ pattern, patternProperties, minLength, maxLength }) {
    let work = minLength === undefined && maxLength === undefined ? 0 : 1;
    // A regex step costs more than other schema work.
    if (typeof pattern === 'string') work += 10 * patternWork(pattern);
    for (const [name] of entriesOf(patternProperties)) work += 10 * patternWork(name);
    return work;
  },
  below: (schema) => (schema['uniqueItems'] === true ? 1 : 0),
};

/**
 * An upper bound for the work of checking a value against a schema, computed without doing it; Infinity if there is no bound. Both the
 * schema and the value may be hostile. The work is the sum, over all parts of the value, of what the schema does at their depth: if a
 * schema refers to itself from two places that check the same part, that doubles with every level.
 */
export function createSchemaWork(schema: JsonSchema): (value: Json, most: number) => number {
  const eachAt = workByDepth(schema, perValue);
  const characterAt = workByDepth(schema, perCharacter);

  /** Stops counting beyond `most`. */
  function workOf(value: Json, depth: number, most: number): number {
    if (depth === mostLevels) return Infinity;
    const each = eachAt(depth);
    // A part that no schema checks costs nothing, however large it is.
    if (each === 0) return 0;
    const character = characterAt(depth);
    if (typeof value === 'string') return each + character * value.length;
    if (typeof value !== 'object' || value === null) return each;
    let work = each;
    if (Array.isArray(value)) {
      for (const inner of value) {
        work += 1 + workOf(inner, depth + 1, most - work);
        if (work > most) return work;
      }
      return work;
    }
    for (const name in value) {
      work += each + character * name.length + workOf(value[name] as Json, depth + 1, most - work);
      if (work > most) return work;
    }
    return work;
  }

  return (value, most) => workOf(value, 0, most);
}

const inPlaceParts = ['not', 'if', 'then', 'else'] as const;
const inPlaceGroups = ['allOf', 'anyOf', 'oneOf', 'dependentSchemas', 'dependencies'] as const;
/** Keywords whose target depends on the value, or that change what references mean: their work cannot be bounded. */
const unbounded = ['$dynamicRef', '$recursiveRef', '$dynamicAnchor', '$recursiveAnchor', '$id'] as const;

/** The most work for any one part of a value at each depth, computed lazily. */
function workByDepth(root: JsonSchema, own: OwnWork): (depth: number) => number {
  const known: Map<JsonObject, number>[] = [];
  const atDepth: number[] = [];

  /** The work of `schema`, applied to a value, for one part that is `depth` levels inside. */
  function workAt(schema: Json | undefined, depth: number): number {
    if (!isObject(schema)) return 0;
    const atDepth = (known[depth] ??= new Map());
    const before = atDepth.get(schema);
    if (before !== undefined) return before;
    // Reaching the schema again before this is done means a cycle at the same depth.
    atDepth.set(schema, Infinity);
    let work = own.below(schema) + inPlaceWork(schema, depth);
    if (depth === 0) work += own.here(schema) + workAt(schema['propertyNames'], 0);
    else work += Math.max(fieldWork(schema, depth - 1), itemWork(schema, depth - 1));
    atDepth.set(schema, work);
    return work;
  }

  function inPlaceWork(schema: JsonObject, depth: number): number {
    if (schema !== root && unbounded.some((name) => schema[name] !== undefined)) return Infinity;
    let work = 0;
    // Each subschema collects what it has evaluated, for the `unevaluated` keywords.
    const gathered = schema['unevaluatedProperties'] !== undefined || schema['unevaluatedItems'] !== undefined ? 10 : 1;
    if (typeof schema['$ref'] === 'string') {
      const target = atReference(root, schema['$ref']);
      if (target === undefined) return Infinity;
      work += workAt(target, depth);
    }
    for (const name of inPlaceParts) work += workAt(schema[name], depth);
    for (const name of inPlaceGroups) for (const [, part] of entriesOf(schema[name])) work += workAt(part, depth);
    return work * gathered;
  }

  /** A field matches either `properties` or `additionalProperties`, and any number of `patternProperties` besides. */
  function fieldWork(schema: JsonObject, depth: number): number {
    let most = workAt(schema['additionalProperties'], depth);
    for (const [, part] of entriesOf(schema['properties'])) most = Math.max(most, workAt(part, depth));
    let work = most + workAt(schema['unevaluatedProperties'], depth);
    for (const [, part] of entriesOf(schema['patternProperties'])) work += workAt(part, depth);
    return work;
  }

  function itemWork({ items, prefixItems, additionalItems, contains, unevaluatedItems }: JsonObject, depth: number): number {
    let most = Math.max(workAt(items, depth), workAt(additionalItems, depth));
    for (const list of [items, prefixItems]) {
      if (Array.isArray(list)) for (const part of list) most = Math.max(most, workAt(part, depth));
    }
    return most + workAt(contains, depth) + workAt(unevaluatedItems, depth);
  }

  return (depth) => (atDepth[depth] ??= workAt(root, depth));
}

function countValues(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const [, inner] of Object.entries(value)) count += countValues(inner);
  return count;
}

function entriesOf(value: Json | undefined): [name: string, value: Json][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
