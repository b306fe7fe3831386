import type { Json } from '../model/json.ts';

/**
 * [POLL-2] [WF-2] What a call has done so far, remembered step by step. After a crash the call is run again from its beginning, and steps that
 * were finished give what they gave before without being done again. So the names and the order of the steps may depend on nothing but
 * the arguments and on what earlier steps gave.
 */
export interface Steps {
  /**
   * Does `work` once. What is `repeatable` is done again where a crash came before its end was remembered; anything else then fails with an
   * `UnknownOutcomeError`, because it may have taken effect.
   */
  run<Result extends Json>(name: string, options: { repeatable: boolean }, work: () => Promise<Result>): Promise<Result>;
  /** Waits until so many milliseconds after the moment it was first asked to. */
  sleep(name: string, ms: number, signal: AbortSignal): Promise<void>;
}
