import type { Principal } from '../model/principal.ts';
import { createGate, type Limits } from './limits.ts';

/** Throws `RATE_LIMITED` where one more would be too many. */
export type RequestRate = (principal: Principal) => void;

/**
 * [EXEC-7] How often one caller may ask for what costs much more than it takes to ask: searches, registrations, previews, and connections that
 * are begun. One rate for all of them, so that nobody has several.
 */
export function createRequestRate(limits: Pick<Limits, 'rate_per_second' | 'burst'>): RequestRate {
  const gate = createGate({ who: 'You', what: 'searches, registrations, previews and connections' });
  return ({ key }) => {
    gate.enter(key, limits);
    gate.leave(key, limits);
  };
}
