export interface OngoingWork {
  /** Does it under a signal that also fires when everything is ended. */
  run<Result>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Resolves when nothing is under way any more. */
  endAll(reason: Error): Promise<void>;
}

/** What is being done for callers at this moment, so that a source which is stopped can end it and wait for its end. */
export function createOngoingWork(): OngoingWork {
  const ongoing = new Map<AbortController, Promise<unknown>>();
  return {
    async run(signal, work) {
      signal.throwIfAborted();
      // Not AbortSignal.any: nothing of a finished call may hang on anything that lives as long as its source.
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
