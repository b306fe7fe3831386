import { UnknownOutcomeError } from '../durable/unknown-outcome-error.ts';
import type { CribError } from '../model/crib-error.ts';
import { NoCredentialError } from '../model/named-errors.ts';
import type { Outcome } from '../model/breakers.ts';
import type { RunningCall } from './running-call.ts';

/** What a failed call says about its tool and source [ID-5]: a refused person, a wrong call and a cancelled one say nothing against them. */
export function outcomeOf(error: CribError, call: RunningCall): Outcome {
  const { code, upstreamStatus, message } = error;
  if (call.endedEarly === 'cancelled' || (call.endedEarly === 'timed_out' && call.shortened)) return { kind: 'nothing' };
  if (call.endedEarly === 'timed_out') return { kind: 'failed', reason: message, silent: true };
  // The first was never sent; of the second nobody knows.
  if (error instanceof NoCredentialError || error instanceof UnknownOutcomeError) return { kind: 'nothing' };
  // Whoever answers with a status is there.
  if (upstreamStatus !== undefined && upstreamStatus < 500) return { kind: 'answered' };
  const failed = upstreamStatus !== undefined || code === 'NETWORK_ERROR' || code === 'SERVICE_UNAVAILABLE';
  return failed ? { kind: 'failed', reason: message, silent: false } : { kind: 'nothing' };
}
