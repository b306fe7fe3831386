import { pointerTokens } from '../model/json-pointer.ts';
import { isObject, type Json, type JsonObject } from '../model/json.ts';
import type { ClaimPath } from '../model/policy.ts';

/** [POL-2] The segments of a path: given as a list, as a JSON Pointer (RFC 6901) when it begins with `/`, else dotted. */
export function claimSegments(path: ClaimPath): readonly string[] {
  if (typeof path !== 'string') return path;
  if (!path.startsWith('/')) return path.split('.');
  return pointerTokens(path);
}

/**
 * The claim at a path, or undefined where it is missing. Own properties only, so `constructor` is never a claim. An infinite number (`1e400`)
 * is not a claim either: as JSON it is null, so it would count as missing wherever claims are compared.
 */
export function claimAt(claims: JsonObject, segments: readonly string[]): Json | undefined {
  let value: Json | undefined = claims;
  for (const segment of segments) {
    if (!isObject(value) || !Object.hasOwn(value, segment)) return undefined;
    value = value[segment];
  }
  return value === null || (typeof value === 'number' && !Number.isFinite(value)) ? undefined : value;
}
