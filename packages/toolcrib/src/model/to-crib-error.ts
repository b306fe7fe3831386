import { CribError } from './crib-error.ts';

/** Any error from below a session as a `CribError`. */
export function toCribError(error: unknown): CribError {
  return error instanceof CribError ? error : new CribError('SERVICE_UNAVAILABLE', String(error), { cause: error });
}
