import { isObject } from './json.ts';

/** The same text for the same value, whatever order its keys came in. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (!isObject(inner)) return inner;
    // Null prototype: a key named __proto__ must end up in the text, not in the object's chain.
    const sorted = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(inner).sort()) sorted[key] = inner[key];
    return sorted;
  });
}
