import type { Principal } from '../model/principal.ts';
import { createGate, type Limits } from './gate.ts';

/** Throws `RATE_LIMITED` if the caller exceeds the rate. */
export type RequestRate = (principal: Principal) => void;

/**
 * [EXEC-7] Limits how often one caller may make expensive requests: searches, registrations, previews and begun connections. They share one
 * rate.
 */
export function createRequestRate(limits: Pick<Limits, 'rate_per_second' | 'burst'>): RequestRate {
  const gate = createGate({ who: 'You', what: 'searches, registrations, previews and connections' });
  return ({ key }) => {
    gate.enter(key, limits);
    gate.leave(key, limits);
  };
}
