import type { ClaimsByIssuer } from '../identity/claims-by-issuer.ts';
import type { Principal } from '../model/principal.ts';
import { compileMatcher } from './matcher.ts';

export type ClaimCheck = (principal: Pick<Principal, 'issuer' | 'claims'>) => boolean;

/** Whether a caller's issuer can give the right and their claims contain it. */

export function compileClaimCheck(claims: ClaimsByIssuer): ClaimCheck {
  const compiled = new Map([...claims].map(([issuer, matcher]) => [issuer, compileMatcher(matcher)] as const));
  return ({ issuer, claims: held }) => compiled.get(issuer)?.holds(held) ?? false;
}
