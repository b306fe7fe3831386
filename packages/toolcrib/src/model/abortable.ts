/** Stops waiting when one of the signals says so; what is waited for goes on for the others. */
export function abortable<T>(promise: Promise<T>, ...signals: AbortSignal[]): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signals.find((signal) => signal.aborted)?.reason as Error);
    if (signals.some((signal) => signal.aborted)) return abort();
    for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => {
      for (const signal of signals) signal.removeEventListener('abort', abort);
    });
  });
}
