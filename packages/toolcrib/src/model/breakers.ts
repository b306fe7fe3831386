import type { BreakerLimits } from './call-limits.ts';
import { CribError } from './crib-error.ts';
import type { BreakerState } from './source.ts';

/** How a call ended for what it was made of: it was answered, it failed, or there is nothing to learn from it. */
export type Outcome = { kind: 'answered' } | { kind: 'failed'; reason: string; silent: boolean } | { kind: 'nothing' };

/** One call that was let through. */
export interface BreakerPass {
  end(outcome: Outcome): void;
}

export interface Breakers {
  /** Throws `SERVICE_UNAVAILABLE` while calls are refused. `name` is what the message calls it. */
  check(key: string, limits: BreakerLimits | undefined, name: string): void;
  /** Checks again, because a call may have waited, and lets it through. The pass is to be ended in every case. */
  enter(key: string, limits: BreakerLimits | undefined, name: string): BreakerPass | undefined;
  stateOf(key: string): BreakerState;
  /** All that are not closed. */
  disturbed(): [key: string, state: BreakerState][];
  /** Begins anew, as after a restart. */
  forget(key: string): void;
}

interface Breaker {
  failures: number;
  lastReason: string;
  /** When it opened, in epoch milliseconds; undefined while it is closed. */
  openSince: number | undefined;
  tryAgainAt: number;
  /** The one call that is let through to see whether it works again. */
  trial: BreakerPass | undefined;
  answeredAt: number;
}

const reasonShown = 200;

/** Epoch milliseconds that never go back, whatever happens to the machine's clock. */
const steadyNow = () => performance.timeOrigin + performance.now();

/**
 * [EXEC-7] Circuit breakers, one per key. After so many failures in a row calls are refused at once instead of each finding out for itself;
 * after a pause one call tries, and its success lets everybody in again.
 */
export function createBreakers({ now = steadyNow }: { now?: () => number } = {}): Breakers {
  const breakers = new Map<string, Breaker>();

  function stateOf(key: string): BreakerState {
    const breaker = breakers.get(key);
    if (breaker?.openSince === undefined) return 'closed';
    return now() < breaker.tryAgainAt ? 'open' : 'half_open';
  }

  function fail(breaker: Breaker, limits: BreakerLimits, reason: string, wasTrial: boolean): void {
    breaker.failures++;
    // Its first line: what a server wrote about one caller's call is not for the others.
    breaker.lastReason = (reason.split('\n', 1)[0] ?? '').slice(0, reasonShown);
    if (!wasTrial && (breaker.openSince !== undefined || breaker.failures < limits.failures)) return;
    breaker.openSince ??= now();
    breaker.tryAgainAt = now() + limits.open_ms;
  }

  function check(key: string, limits: BreakerLimits | undefined, name: string): void {
    const breaker = limits === undefined || limits.failures === 0 ? undefined : breakers.get(key);
    if (breaker?.openSince === undefined) return;
    const waitMs = breaker.trial === undefined ? breaker.tryAgainAt - now() : 1000;
    if (waitMs <= 0) return;
    const since = new Date(breaker.openSince).toISOString();
    const message = `${name} keeps failing and is left alone since ${since}; it is tried again in ${Math.ceil(waitMs / 1000)} s.`;
    throw new CribError('SERVICE_UNAVAILABLE', `${message} The last failure: ${breaker.lastReason}`, {
      retryAfterMs: waitMs,
      origin: 'source',
    });
  }

  return {
    stateOf,
    check,
    enter(key, limits, name) {
      check(key, limits, name);
      if (limits === undefined || limits.failures === 0) return undefined;
      const found = breakers.get(key);
      const breaker = found ?? { failures: 0, lastReason: '', openSince: undefined, tryAgainAt: 0, trial: undefined, answeredAt: 0 };
      if (found === undefined) breakers.set(key, breaker);
      const enteredAt = now();
      const pass: BreakerPass = {
        end(outcome) {
          const wasTrial = breaker.trial === pass;
          if (wasTrial) breaker.trial = undefined;
          if (outcome.kind === 'answered') {
            breaker.failures = 0;
            breaker.openSince = undefined;
            breaker.answeredAt = now();
          } else if (outcome.kind === 'failed') {
            // A call that took too long says nothing where others were answered meanwhile: perhaps it only asked for much.
            if (!outcome.silent || breaker.answeredAt < enteredAt) fail(breaker, limits, outcome.reason, wasTrial);
          }
        },
      };
      if (breaker.openSince !== undefined) breaker.trial = pass;
      return pass;
    },
    disturbed: () =>
      [...breakers.keys()].map((key) => [key, stateOf(key)] as [string, BreakerState]).filter(([, state]) => state !== 'closed'),
    forget: (key) => void breakers.delete(key),
  };
}
