import type { CallSignal } from '../model/end-signal.ts';
import type { Json } from '../model/json.ts';

/**
 * [POLL-2] [WF-2] The steps of a call, stored one by one. After a crash the call runs again from the start, and finished steps return
 * their stored results without running again. So the names and the order of steps may depend only on the arguments and on the results of
 * earlier steps.
 */
export interface Steps {
  /**
   * Does `work` once. If the server crashed before the outcome was stored, a `repeatable` step is done again; any other step fails with an
   * `UnknownOutcomeError`, because it may have taken effect.
   */
  run<Result extends Json>(name: string, options: { repeatable: boolean }, work: () => Promise<Result>): Promise<Result>;
  /** Waits for `ms`, counted from the first time the call came here, even across restarts. */
  sleep(name: string, ms: number, signal: CallSignal): Promise<void>;
}
