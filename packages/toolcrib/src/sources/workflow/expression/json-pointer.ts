import type { Json, JsonObject } from '../../../model/json.ts';

/** RFC 6901; undefined where nothing is there. */
export function atPointer(value: Json | undefined, pointer: string): Json | undefined {
  let found = value;
  for (const token of tokensOf(pointer)) found = memberOf(found, token);
  return found;
}

/** A property of an object, or an item of a list; never what objects inherit. */
export function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return /^(?:0|[1-9]\d*)$/.test(name) ? value[Number(name)] : undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A copy with `replacement` at that place. What is missing on the way is made; `-` is the end of a list. Undefined where there is no such place. */
export function withReplaced(value: Json | undefined, pointer: string, replacement: Json): Json | undefined {
  return replacedIn(value, tokensOf(pointer), replacement);
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

function tokensOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}
