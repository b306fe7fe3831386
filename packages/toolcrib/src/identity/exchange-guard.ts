import { createBreakers } from '../resilience/breakers.ts';

/** One exchange that the breakers let through. One of the two is to be called in every case. */
interface ExchangePass {
  /** The issuer answered, whatever it said. */
  answered(): void;
  /** It failed as it would have for any user. */
  failed(reason: string): void;
}

export interface ExchangeGuard {
  /** Throws `SERVICE_UNAVAILABLE` while exchanges at this place are refused, for this user or for all. `name` is what the message calls it. */
  enter(place: string, user: string, name: string): ExchangePass;
}

/** After this many failures in a row of one user, or this many users in a row who failed, exchanges pause: for that user, or for all. */
const ownBreaker = { failures: 5, open_ms: 30_000 };
const sharedBreaker = { failures: 3, open_ms: 30_000 };
const mostFailing = 1000;

/**
 * [ID-5] The breakers around token exchanges: one for each issuer, client and audience, and one for each user of these. Each user counts once
 * towards the shared one, so that nobody can open it for the others.
 */
export function createExchangeGuard({ now }: { now: () => number }): ExchangeGuard {
  const breakers = createBreakers({ now });
  const failing = new Map<string, Set<string>>();

  return {
    enter(place, user, name) {
      const ownKey = `${place} ${user}`;
      const own = breakers.enter(ownKey, ownBreaker, name);
      const shared = enterShared();
      return {
        answered() {
          shared?.end({ kind: 'answered' });
          failing.delete(place);
          breakers.forget(ownKey);
        },
        failed(reason) {
          const users = failing.get(place) ?? new Set();
          const isFirst = !users.has(user);
          if (users.size < mostFailing) failing.set(place, users.add(user));
          own?.end({ kind: 'failed', reason, silent: false });
          shared?.end(isFirst ? { kind: 'failed', reason, silent: false } : { kind: 'nothing' });
        },
      };

      function enterShared() {
        try {
          return breakers.enter(place, sharedBreaker, name);
        } catch (error) {
          // The issuer was not asked, so there is nothing to learn about this user.
          own?.end({ kind: 'nothing' });
          throw error;
        }
      }
    },
  };
}
