import { parseClaimRule } from '../model/claim-rule.ts';
import { CribError } from '../model/crib-error.ts';
import type { Matcher } from '../model/policy.ts';
import type { IssuerConfig } from './issuer-config.ts';

/** The claim that gives a right, by issuer. Tokens of an issuer that is not listed never give it. */
export type ClaimsByIssuer = ReadonlyMap<string, Matcher>;

interface BoundClaims {
  /** [BFF-6] Who is an administrator. */
  administrators: ClaimsByIssuer;
  /** [SEC-2] Which administrators may start programs on this machine. */
  runners: ClaimsByIssuer;
}

interface UsualClaims {
  adminMatcher: Matcher;
  runMatcher: Matcher;
}

/**
 * Binds the claims that give power to the issuers that may give it: an issuer for partners must not make administrators by writing the role
 * into its tokens. The defaults apply to a single issuer; with several, each entry has to name its claims.
 */
export function bindClaims(issuers: readonly IssuerConfig[], { adminMatcher, runMatcher }: UsualClaims): BoundClaims {
  const alone = issuers.length === 1;
  if (issuers.length > 1 && issuers.every(({ admin_claim: claim }) => claim === undefined)) throw unboundClaims(issuers);
  const bind = (claimOf: (config: IssuerConfig) => string | undefined, usual: Matcher) =>
    new Map(
      issuers.flatMap((config) => {
        const written = claimOf(config);
        const matcher = written === undefined ? alone && usual : parseClaimRule(written);
        return matcher ? [[config.issuer, matcher] as const] : [];
      }),
    );
  return {
    administrators: bind(({ admin_claim: claim }) => claim, adminMatcher),
    runners: bind(({ run_claim: claim }) => claim, runMatcher),
  };
}

function unboundClaims([first]: readonly IssuerConfig[]): CribError {
  const entry = JSON.stringify({ issuer: first?.issuer, admin_claim: 'realm_access.roles=toolcrib-admin' });
  return new CribError(
    'VALIDATION_ERROR',
    `Several issuers are configured, and none names its administrators: write admin_claim, and run_claim for those who may start programs, into the entry of the issuer, such as ${entry}, in TOOLCRIB_ISSUERS or under server.issuers of the configuration file`,
    { field: 'admin-claim' },
  );
}
