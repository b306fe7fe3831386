import type { CribError } from '../model/crib-error.ts';
import { originOfFailure, type Origin } from '../model/origin.ts';
import type { RunningCall } from './running-call.ts';

/** Whose failure it is that a call ended with this error. */
export function originOf(error: CribError, { endedEarly, queued, shortened }: RunningCall): Origin {
  if (endedEarly === 'cancelled') return 'caller';
  if (endedEarly === undefined) return originOfFailure(error);
  // Its place was never free; or the caller gave it less time than it would have had.
  if (queued) return 'gateway';
  return shortened ? 'caller' : 'source';
}
