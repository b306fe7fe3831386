import { CribError } from '../model/crib-error.ts';
import type { Json, JsonObject } from '../model/json.ts';

const maxDepth = 32;

/**
 * Checks that claims are safe to walk and copy, and freezes them: one verified payload serves many requests, and none of them may change
 * it for the others. The depth is limited because recursive code overflows the stack long before `JSON.parse` complains.
 */
export function acceptClaims(claims: JsonObject): JsonObject {
  const open: [value: Json, depth: number][] = [[claims, 1]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, depth] = next;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > maxDepth) throw new CribError('UNAUTHENTICATED', `The token's claims are nested deeper than ${maxDepth} levels`);
    if (Object.hasOwn(value, '__proto__')) throw new CribError('UNAUTHENTICATED', 'The token has a claim with a forbidden name');
    for (const member of Object.values(value)) open.push([member, depth + 1]);
    Object.freeze(value);
  }
  return claims;
}
