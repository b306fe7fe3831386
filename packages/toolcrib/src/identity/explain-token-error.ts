import { errors } from 'jose';
import { CribError } from '../model/crib-error.ts';
import type { IssuerConfig } from './issuer-config.ts';

/** Says what is wrong with a token in words its bearer can act on. Our own errors, such as an issuer that is down, pass unchanged. */
export function explainTokenError(error: unknown, config: IssuerConfig): CribError {
  if (error instanceof CribError) return error;
  return new CribError('UNAUTHENTICATED', explain(error, config), { cause: error });
}

function explain(error: unknown, config: IssuerConfig): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired: get a new one';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'The token is signed with an unsupported algorithm';
  if (error instanceof errors.JWTClaimValidationFailed) return explainClaim(error.claim, error.reason === 'check_failed', config);
  if (error instanceof errors.JWKSMultipleMatchingKeys) {
    return 'The token does not say which key of its issuer signed it: its header must have a kid';
  }
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed) {
    return 'The token is not signed by a key of its issuer';
  }
  return 'The token cannot be verified';
}

function explainClaim(claim: string, present: boolean, { audience, token_type: tokenType }: IssuerConfig): string {
  if (claim === 'aud') return `The token is not meant for this server: its audience must be ${[audience].flat().join(' or ')}`;
  if (claim === 'typ') return `The token has the wrong type: its header must have the typ ${tokenType}`;
  if (claim === 'nbf' && present) return 'The token is not valid yet: wait, or check the clocks of the issuer and this server';
  return `The token has no usable ${claim} claim`;
}
