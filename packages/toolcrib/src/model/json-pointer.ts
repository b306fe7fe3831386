import type { Json, JsonObject } from './json.ts';

/** RFC 6901; undefined where nothing is there. */
export function atPointer(value: Json | undefined, pointer: string): Json | undefined {
  let found = value;
  for (const token of pointerTokens(pointer)) found = memberOf(found, token);
  return found;
}

/** The target of a `$ref` within `root` (RFC 6901 §6); undefined where it leads elsewhere, nowhere, or to a name. */
export function atReference(root: Json, reference: string): Json | undefined {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  let found: Json | undefined = root;
  for (const segment of reference.split('/').slice(1)) found = memberOf(found, fragmentToken(segment));
  return found;
}

/** A token of a pointer in the fragment of an address, where it may be percent-encoded. */
export function fragmentToken(segment: string): string {
  try {
    return pointerToken(decodeURIComponent(segment));
  } catch {
    return pointerToken(segment);
  }
}

/** A property of an object, or an item of a list; never what objects inherit. */
export function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return /^(?:0|[1-9]\d*)$/.test(name) ? value[Number(name)] : undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A copy with `replacement` at that place. Missing parents are created; `-` is the end of a list. Undefined where there is no such place. */
export function withReplaced(value: Json | undefined, pointer: string, replacement: Json): Json | undefined {
  return replacedIn(value, pointerTokens(pointer), replacement);
}

function replacedIn(value: Json | undefined, [token, ...rest]: string[], replacement: Json): Json | undefined {
  if (token === undefined) return replacement;
  if (Array.isArray(value)) {
    const place = token === '-' ? value.length : /^(?:0|[1-9]\d*)$/.test(token) ? Number(token) : -1;
    const inner = place < 0 || place > value.length ? undefined : replacedIn(value[place], rest, replacement);
    return inner === undefined ? undefined : value.toSpliced(place, 1, inner);
  }
  if (value !== undefined && (typeof value !== 'object' || value === null)) return undefined;
  const inner = replacedIn(memberOf(value, token), rest, replacement);
  return inner === undefined ? undefined : withMember(value ?? {}, token, inner);
}

/** Whatever the name is: set in the usual way, `__proto__` would change what the copy inherits. */
function withMember(object: JsonObject, name: string, member: Json): JsonObject {
  return Object.fromEntries([...Object.entries(object).filter(([other]) => other !== name), [name, member]]);
}

export function pointerTokens(pointer: string): string[] {
  return pointer.split('/').slice(1).map(pointerToken);
}

function pointerToken(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
