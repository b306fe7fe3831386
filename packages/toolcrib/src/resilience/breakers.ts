import type { BreakerLimits } from '../model/call-limits.ts';
import { CribError } from '../model/crib-error.ts';
import type { BreakerState } from '../model/source.ts';

/** What a call says about its tool and its source. `nothing`: it neither succeeded nor failed, such as a cancelled call. */
export type Outcome = { kind: 'answered' } | { kind: 'failed'; reason: string; silent: boolean } | { kind: 'nothing' };

/** One admitted call. */
export interface BreakerPass {
  end(outcome: Outcome): void;
}

export interface Breakers {
  /** Throws `SERVICE_UNAVAILABLE` while the breaker is open. The message uses `name`. */
  check(key: string, limits: BreakerLimits | undefined, name: string): void;
  /** Checks again, because the call may have waited, and admits it. The pass must be ended in every case. */
  enter(key: string, limits: BreakerLimits | undefined, name: string): BreakerPass | undefined;
  stateOf(key: string): BreakerState;
  /** All breakers that are not closed. */
  disturbed(): [key: string, state: BreakerState][];
  /** Resets the breaker, as after a restart. */
  forget(key: string): void;
}

interface Breaker {
  failures: number;
  lastReason: string;
  /** When the breaker opened, in epoch milliseconds; undefined while it is closed. */
  openSince: number | undefined;
  tryAgainAt: number;
  /** The one call admitted to test whether the service works again. */
  trial: BreakerPass | undefined;
  answeredAt: number;
}

const reasonShown = 200;

/** Epoch milliseconds that never go back, whatever happens to the machine's clock. */
const steadyNow = () => performance.timeOrigin + performance.now();

/**
 * [EXEC-7] Circuit breakers, one per key. After a number of failures in a row, calls are refused at once; after a pause one trial call is
 * admitted, and its success closes the breaker.
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
    // Only the first line: other callers must not see what a server wrote about one caller's call.
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
    const message = `${name} keeps failing: calls have been refused since ${since}, and the next one is tried in ${Math.ceil(waitMs / 1000)} s.`;
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
            // A timeout does not count if other calls were answered meanwhile: the call may just have been a slow one.
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
