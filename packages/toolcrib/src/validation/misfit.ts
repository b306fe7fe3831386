import { atReference } from '../model/json-pointer.ts';
import { isObject, type Json, type JsonObject, type JsonSchema } from '../model/json.ts';

/** One violation of a schema by a value. */
interface Misfit {
  path: readonly string[];
  reason: string;
  /** How strongly it suggests that the schema was not the intended one. */
  weight: number;
  /** Set if the value has none of these types. */
  kinds?: readonly string[] | undefined;
  /** Set if the value is none of these. */
  allowed?: readonly Json[];
}

/** A branch with another type of value, or with another marker such as `type: "card"`, was not the intended one. */
const otherKind = 1000;
const otherMarker = 100;
const otherKindInside = 3;
/** Bounds the cost: explaining must not cost more than checking. */
const mostVisits = 5000;
const deepest = 32;
const mostItems = 50;

/**
 * Why a value matches none of several forms, judged by the closest form. Undefined if no reason is found: only common mistakes are looked
 * for.
 */
export function nearestMisfit(root: JsonSchema, value: Json): Pick<Misfit, 'path' | 'reason'> | undefined {
  let visits = 0;

  function dereferenced(schema: Json | undefined): JsonObject | undefined {
    let found = schema;
    for (let hops = 0; hops < 8 && isObject(found) && typeof found['$ref'] === 'string'; hops++) found = atReference(root, found['$ref']);
    return isObject(found) ? found : undefined;
  }

  function misfits(given: Json | undefined, at: Json, path: readonly string[], depth: number): Misfit[] {
    const schema = dereferenced(given);
    if (schema === undefined || ++visits > mostVisits || depth > deepest) return [];
    const kinds = wrongKinds(schema, at);
    if (kinds !== undefined) return [{ path, reason: `must be ${kinds.join(' or ')}`, weight: otherKind, kinds }];
    const { items } = schema;
    const inside = Array.isArray(at) && isObject(items) ? at.slice(0, mostItems) : [];
    return [
      ...wrongValue(schema, at, path),
      ...(isObject(at) ? inObject(schema, at, path, depth) : []),
      ...inside.flatMap((item, n) => within(items, item, [...path, String(n)], depth)),
      ...listOf(schema['allOf']).flatMap((part) => misfits(part, at, path, depth + 1)),
      ...inUnion(listOf(schema['oneOf']), at, path, depth),
      ...inUnion(listOf(schema['anyOf']), at, path, depth),
    ];
  }

  function inObject(schema: JsonObject, at: JsonObject, path: readonly string[], depth: number): Misfit[] {
    const { properties, required, additionalProperties, patternProperties } = schema;
    const known = isObject(properties) ? properties : {};
    const missing = listOf(required).filter((name): name is string => typeof name === 'string' && !Object.hasOwn(at, name));
    const others =
      additionalProperties === false && patternProperties === undefined
        ? Object.keys(at).filter((name) => !Object.hasOwn(known, name))
        : [];
    return [
      ...missing.map((name) => ({ path: [...path, name], reason: 'is required', weight: 2 })),
      ...Object.keys(at).flatMap((name) =>
        Object.hasOwn(known, name) ? within(known[name], at[name] as Json, [...path, name], depth) : [],
      ),
      ...others.map((name) => ({ path: [...path, name], reason: 'is not a parameter here', weight: 1 })),
    ];
  }

  /** A wrong type inside counts less than a wrong type of the whole value. */
  function within(schema: Json | undefined, at: Json, path: readonly string[], depth: number): Misfit[] {
    const found = misfits(schema, at, path, depth + 1);
    return found.map((misfit) =>
      misfit.weight === otherKind ? { path: misfit.path, reason: misfit.reason, weight: otherKindInside } : misfit,
    );
  }

  function inUnion(branches: readonly Json[], at: Json, path: readonly string[], depth: number): Misfit[] {
    const found = branches.map((branch) => misfits(branch, at, path, depth + 1));
    const kinds = found.map(([only]) => only?.kinds);
    if (found.length > 0 && kinds.every((wanted) => wanted !== undefined)) {
      const all = [...new Set(kinds.flat())];
      return [{ path, reason: `must be ${all.join(' or ')}`, weight: otherKind, kinds: all }];
    }
    const markers = found.map((misfitsOfOne) => misfitsOfOne.find(({ allowed }) => allowed !== undefined));
    const [first] = markers;
    if (first !== undefined && markers.every((marker) => marker !== undefined && samePath(marker, first)))
      return [
        wrongMarker(
          first.path,
          markers.flatMap((marker) => marker?.allowed ?? []),
        ),
      ];
    return found.reduce((best, one) => (best !== undefined && weightOf(best) <= weightOf(one) ? best : one), found[0]) ?? [];
  }

  const [first] = misfits(root, value, [], 0).toSorted((a, b) => b.weight - a.weight);
  return visits > mostVisits ? undefined : first;
}

function weightOf(misfits: readonly Misfit[]): number {
  return misfits.reduce((sum, { weight }) => sum + weight, 0);
}

function wrongKinds({ type }: JsonObject, value: Json): string[] | undefined {
  const kinds = (Array.isArray(type) ? type : [type]).filter((kind): kind is string => typeof kind === 'string');
  if (kinds.length === 0 || kinds.some((kind) => isOf(kind, value))) return undefined;
  return kinds;
}

function isOf(kind: string, value: Json): boolean {
  switch (kind) {
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === kind;
  }
}

function wrongValue(schema: JsonObject, value: Json, path: readonly string[]): Misfit[] {
  const allowed = Object.hasOwn(schema, 'const') ? [schema['const'] as Json] : schema['enum'];
  if (!Array.isArray(allowed) || allowed.some((one) => JSON.stringify(one) === JSON.stringify(value))) return [];
  return [wrongMarker(path, allowed)];
}

function wrongMarker(path: readonly string[], allowed: readonly Json[]): Misfit {
  const words = allowed.length === 1 ? JSON.stringify(allowed[0]) : `one of ${JSON.stringify(allowed)}`;
  return { path, reason: `must be ${words.slice(0, 500)}`, weight: otherMarker, allowed };
}

function samePath(one: Misfit, other: Misfit): boolean {
  return one.path.length === other.path.length && one.path.every((part, index) => part === other.path[index]);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
