import { errors } from 'jose';
import { CribError } from '../model/crib-error.ts';

/** For everything that a grant once opened, from its end on. */
export function loginEnded(): CribError {
  return new CribError('UNAUTHENTICATED', 'This login has ended: log in again', { cause: new errors.JWTExpired('ended', {}) });
}

/** [LOGIN-5] A login that nobody vouches for must not go on for longer than stated. */
export function notRechecked(cause: unknown): CribError {
  return new CribError('SERVICE_UNAVAILABLE', 'The identity provider cannot be reached to check this login: try again later', {
    retryAfterMs: 5000,
    cause,
  });
}
