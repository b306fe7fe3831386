import { errors } from 'jose';
import type { CribError } from '../model/crib-error.ts';

/** [OPS-1] Why a token was refused, in a few words that can be counted. */
export const authenticationFailures = ['missing', 'malformed', 'expired', 'issuer', 'audience', 'signature', 'other'] as const;
export type AuthenticationFailure = (typeof authenticationFailures)[number];

/** The failure of a token that was sent. */
export function authenticationFailure({ field, cause }: CribError): AuthenticationFailure {
  if (field === 'Authorization') return 'malformed';
  if (cause instanceof errors.JWTExpired) return 'expired';
  if (cause instanceof errors.JWTClaimValidationFailed) return claims[cause.claim] ?? 'other';
  if (cause instanceof errors.JWKSNoMatchingKey || cause instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (cause instanceof errors.JWTInvalid || cause instanceof errors.JWSInvalid || cause instanceof TypeError) return 'malformed';
  return 'other';
}

const claims: Partial<Record<string, AuthenticationFailure>> = { iss: 'issuer', aud: 'audience' };
