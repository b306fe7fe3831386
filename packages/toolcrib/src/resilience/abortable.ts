import type { EndSignal } from '../model/end-signal.ts';

/** Stops waiting when one of the signals fires. The work behind the promise continues, for others who wait for it. */
export function abortable<T>(promise: Promise<T>, ...signals: EndSignal[]): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signals.find((signal) => signal.aborted)?.reason);
    if (signals.some((signal) => signal.aborted)) return abort();
    for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => {
      for (const signal of signals) signal.removeEventListener('abort', abort);
    });
  });
}
