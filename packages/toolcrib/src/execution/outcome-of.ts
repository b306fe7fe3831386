import type { CribError } from '../model/crib-error.ts';
import type { Outcome } from '../resilience/breakers.ts';
import { originOf } from './origin-of.ts';
import type { RunningCall } from './running-call.ts';

/** What a failed call says about its tool and source [ID-5]: a refused person, a wrong call and a cancelled one say nothing against them. */
export function outcomeOf(error: CribError, call: RunningCall): Outcome {
  const origin = originOf(error, call);
  const { code, upstreamStatus, message } = error;
  // A source that answers with a status is up.
  if (call.endedEarly === undefined && (origin === 'tool' || (upstreamStatus !== undefined && upstreamStatus < 500)))
    return { kind: 'answered' };
  if (origin !== 'source') return { kind: 'nothing' };
  if (call.endedEarly === 'timed_out') return { kind: 'failed', reason: message, silent: true };
  const failed = upstreamStatus !== undefined || code === 'NETWORK_ERROR' || code === 'SERVICE_UNAVAILABLE';
  return failed ? { kind: 'failed', reason: message, silent: false } : { kind: 'nothing' };
}
