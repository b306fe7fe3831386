import type { Json } from './json.ts';

/** Finds a place where an integer may stand that a number does not hold: 2^53 has 16 digits. It may be part of a text. */
export const mayHoldLargeInteger = /(?:^|[[,:\s])-?\d{16}/;

type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;

/** TypeScript does not know the third argument yet. */
const parse = JSON.parse as (text: string, reviver?: Reviver) => Json;

/** Whether a number differs from the integer that was written. Fractions are rounded everywhere, which does not change their meaning. */
function isChanged(value: unknown, source: string | undefined): source is string {
  return typeof value === 'number' && source !== undefined && /^-?\d+$/.test(source) && String(value) !== source && source !== '-0';
}

/** `JSON.parse`, except that an integer which a number cannot hold becomes the text of its digits; `onText` is called for each. */
export function parseExactJson(text: string, onText?: () => void): Json {
  if (!mayHoldLargeInteger.test(text)) return parse(text);
  return parse(text, (_key, value, { source }) => {
    if (!isChanged(value, source)) return value;
    onText?.();
    return source;
  });
}

interface ChangedInteger {
  path: string[];
  digits: string;
}

/** The first integer of a JSON text that a number would change, and where it stands; undefined where there is none. */
export function changedInteger(text: string): ChangedInteger | undefined {
  if (!mayHoldLargeInteger.test(text)) return undefined;
  const changed = new Map<unknown, [name: string, digits: string]>();
  const value = parse(text, function note(name, inner, { source }) {
    if (isChanged(inner, source) && !changed.has(this)) changed.set(this, [name, source]);
    return inner;
  });
  const [first] = changed.values();
  if (first === undefined) return undefined;

  function placeIn(holder: object, path: string[]): ChangedInteger | undefined {
    const [name, digits] = changed.get(holder) ?? [];
    if (name !== undefined && digits !== undefined) return { path: [...path, name], digits };
    for (const [key, inner] of Object.entries(holder)) {
      const found = typeof inner === 'object' && inner !== null ? placeIn(inner as object, [...path, key]) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return (typeof value === 'object' && value !== null ? placeIn(value, []) : undefined) ?? { path: [], digits: first[1] };
}
