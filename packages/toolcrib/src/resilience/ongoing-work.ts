import type { EndSignal } from '../model/end-signal.ts';

export interface OngoingWork {
  /** Runs work with a signal that also fires on `endAll`. */
  run<Result>(signal: EndSignal, work: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Aborts all work under way, and resolves when it has ended. */
  endAll(reason: Error): Promise<void>;
}

/** Tracks work under way for callers, so that stopping a source can abort it and wait for it. */
export function createOngoingWork(): OngoingWork {
  const ongoing = new Map<AbortController, Promise<unknown>>();
  return {
    async run(signal, work) {
      signal.throwIfAborted();
      // Not AbortSignal.any: a finished call must not stay referenced by a signal that lives as long as its source.
      const own = new AbortController();
      const abort = () => own.abort(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      try {
        const doing = work(own.signal);
        ongoing.set(own, doing);
        return await doing;
      } finally {
        signal.removeEventListener('abort', abort);
        ongoing.delete(own);
      }
    },
    async endAll(reason) {
      const ending = [...ongoing];
      for (const [own] of ending) own.abort(reason);
      await Promise.allSettled(ending.map(([, doing]) => doing));
    },
  };
}
