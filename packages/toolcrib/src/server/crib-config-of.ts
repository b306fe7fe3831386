import type { CribConfig } from '../crib-config.ts';
import type { bindClaims } from '../identity/claims-by-issuer.ts';
import type { ServeConfig } from './server-config.ts';

/** What the crib needs of the configuration of a server. `bound` has the claims of the issuers; without issuers it is for development. */
export function cribConfigOf(config: ServeConfig, bound: ReturnType<typeof bindClaims> | undefined): Omit<CribConfig, 'warn'> {
  const strict = bound && {
    runners: bound.runners,
    runRules: config.runRules ?? ('nothing' as const),
    separateUser: true,
    allowedNetworks: config.allowedNetworks ?? [],
  };
  return {
    ...config,
    ...strict,
    development: bound === undefined,
    passesOn: config.mcpDoor ?? bound === undefined,
    pinning: config.pinning ?? (bound === undefined ? 'warn' : 'quarantine'),
    limits: { principal: config.principalLimits, defaultTimeoutMs: config.defaultTimeoutMs, maxTimeoutMs: config.maxTimeoutMs },
    artifacts: { bytesPerPrincipal: config.artifactBytes, days: config.artifactDays },
  };
}
