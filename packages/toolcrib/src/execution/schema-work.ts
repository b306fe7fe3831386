import { patternWork } from '../inventory/pattern-work.ts';
import { schemaTarget } from '../inventory/schema-target.ts';
import type { Json, JsonObject, JsonSchema } from '../model/json.ts';

/**
 * What may be done while everybody waits: compiling a schema of this size (`schemaSize`), and checking that makes this much work, take some tens
 * of milliseconds at most. See docs/decisions/2026-11-16-costly-schemas-have-threads.md for what was measured.
 */
export const mostSizeHere = 400;
export const mostWorkHere = 250_000;

/** No request nests deeper; what does may cost anything. */
const mostLevels = 64;

/** The work that a schema object makes by itself, apart from the schemas in it. */
interface OwnWork {
  /** For the value that it is asked about. */
  here(schema: JsonObject): number;
  /** For everything within that value, too. */
  below(schema: JsonObject): number;
}

const lists = ['enum', 'const', 'required', 'dependentRequired', 'dependencies'] as const;

const perValue: OwnWork = {
  here(schema) {
    let work = 1 + Object.keys(schema).length + entriesOf(schema['properties']).length;
    for (const name of lists) if (schema[name] !== undefined) work += countValues(schema[name]);
    return work;
  },
  // Every item is written as text and compared.
  below: (schema) => (schema['uniqueItems'] === true ? 20 : 0),
};

const perCharacter: OwnWork = {
  here({ pattern, patternProperties, minLength, maxLength }) {
    let work = minLength === undefined && maxLength === undefined ? 0 : 1;
    // A step of an expression is dearer than what a schema does otherwise.
    if (typeof pattern === 'string') work += 10 * patternWork(pattern);
    for (const [name] of entriesOf(patternProperties)) work += 10 * patternWork(name);
    return work;
  },
  below: (schema) => (schema['uniqueItems'] === true ? 1 : 0),
};

/**
 * Tells the most work that checking a value against a schema can make, without doing it; infinite where that cannot be told. Whoever wrote
 * the schema may mean harm, and so may whoever wrote the value. The work is the sum over all parts of the value of what the schema does at
 * their depth: where a schema refers to itself from two places that see the same part, that doubles with every level.
 */
export function createSchemaWork(schema: JsonSchema): (value: Json, most: number) => number {
  const eachAt = workByDepth(schema, perValue);
  const characterAt = workByDepth(schema, perCharacter);

  /** Stops counting beyond `most`. */
  function workOf(value: Json, depth: number, most: number): number {
    if (depth === mostLevels) return Infinity;
    const each = eachAt(depth);
    // What nothing looks at costs nothing, however much it is.
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
/** They lead elsewhere in a way that depends on the value, or change what references mean. */
const untold = ['$dynamicRef', '$recursiveRef', '$dynamicAnchor', '$recursiveAnchor', '$id'] as const;

/** The most work for any one part of a value at each depth, told when it is asked for. */
function workByDepth(root: JsonSchema, own: OwnWork): (depth: number) => number {
  const known: Map<JsonObject, number>[] = [];
  const told: number[] = [];

  /** What `schema`, asked about some value, does to one part of it that is `depth` levels within. */
  function workAt(schema: Json | undefined, depth: number): number {
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 0;
    const atDepth = (known[depth] ??= new Map());
    const before = atDepth.get(schema);
    if (before !== undefined) return before;
    // Whoever comes here again before this is done goes in a circle and gets no deeper.
    atDepth.set(schema, Infinity);
    let work = own.below(schema) + inPlaceWork(schema, depth);
    if (depth === 0) work += own.here(schema) + workAt(schema['propertyNames'], 0);
    else work += Math.max(fieldWork(schema, depth - 1), itemWork(schema, depth - 1));
    atDepth.set(schema, work);
    return work;
  }

  function inPlaceWork(schema: JsonObject, depth: number): number {
    if (schema !== root && untold.some((name) => schema[name] !== undefined)) return Infinity;
    let work = 0;
    // What each part has looked at is gathered, for those that ask for the rest.
    const gathered = schema['unevaluatedProperties'] !== undefined || schema['unevaluatedItems'] !== undefined ? 10 : 1;
    if (typeof schema['$ref'] === 'string') {
      const target = schemaTarget(root, schema['$ref']);
      if (target === undefined) return Infinity;
      work += workAt(target, depth);
    }
    for (const name of inPlaceParts) work += workAt(schema[name], depth);
    for (const name of inPlaceGroups) for (const [, part] of entriesOf(schema[name])) work += workAt(part, depth);
    return work * gathered;
  }

  /** A field is either one of those with a name or one of the others; expressions may name it once more. */
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

  return (depth) => (told[depth] ??= workAt(root, depth));
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
