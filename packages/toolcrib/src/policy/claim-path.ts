import type { Json, JsonObject } from '../model/json.ts';
import type { ClaimPath } from '../model/policy.ts';

/** [POL-2] The segments of a path: given as a list, as a JSON Pointer (RFC 6901) when it begins with `/`, else dotted. */
export function claimSegments(path: ClaimPath): readonly string[] {
  if (typeof path !== 'string') return path;
  if (!path.startsWith('/')) return path.split('.');
  return path
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * The claim at a path, or undefined where it is missing. Own properties only, so `constructor` is never a claim. A number beyond all
 * bounds (`1e400`) is no claim either: written as JSON it is null, so it would be taken for a missing one wherever claims are compared.
 */
export function claimAt(claims: JsonObject, segments: readonly string[]): Json | undefined {
  let value: Json | undefined = claims;
  for (const segment of segments) {
    if (value === null || typeof value !== 'object' || Array.isArray(value) || !Object.hasOwn(value, segment)) return undefined;
    value = value[segment];
  }
  return value === null || (typeof value === 'number' && !Number.isFinite(value)) ? undefined : value;
}
