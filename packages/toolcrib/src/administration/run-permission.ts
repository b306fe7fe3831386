import type { ClaimsByIssuer } from '../identity/claims-by-issuer.ts';
import { CribError } from '../model/crib-error.ts';
import { ownIssuer, type Principal } from '../model/principal.ts';
import { compileClaimCheck } from '../policy/claim-check.ts';
import type { RunNeed } from '../sources/registration/normalised-registration.ts';

/** [SEC-2] Who may decide which programs run on this machine, and which of its files are read. */
export interface RunPermission {
  isHeldBy(actor: Principal): boolean;
  /** Throws if the actor lacks the permission that `need` calls for; null needs none. */
  require(actor: Principal, need: RunNeed | null): void;
}

/** Without claims every administrator has the permission, as in development. */
export function createRunPermission(claims: ClaimsByIssuer | undefined): RunPermission {
  const holds = claims && compileClaimCheck(claims);
  const isHeldBy = (actor: Principal) => holds === undefined || actor.issuer === ownIssuer || holds(actor);
  return {
    isHeldBy,
    require(actor, need) {
      if (need === null || isHeldBy(actor)) return;
      throw new CribError(
        'FORBIDDEN',
        `This ${need.does} on the server's machine, which needs permission to run commands: ${missing(claims, actor.issuer)}`,
        { field: need.field },
      );
    },
  };
}

function missing(claims: ClaimsByIssuer | undefined, issuer: string): string {
  const matcher = claims?.get(issuer);
  if (matcher === undefined) return `no token from ${issuer} grants it`;
  const path = [matcher.path].flat().join('.');
  return `your token lacks ${'value' in matcher ? `${JSON.stringify(matcher.value)} in its claim ${path}` : `the claim ${path}`}`;
}
