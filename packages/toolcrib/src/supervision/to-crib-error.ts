import { CribError } from '../model/crib-error.ts';

/** What was thrown by whatever lies under a session, in the one form of ours. */
export function toCribError(error: unknown): CribError {
  return error instanceof CribError ? error : new CribError('SERVICE_UNAVAILABLE', String(error), { cause: error });
}
