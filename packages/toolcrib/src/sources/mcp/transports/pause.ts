import type { EndSignal } from '../../../model/end-signal.ts';

/** Waits, at most until the signal fires. Does not keep the process alive. */
export function pause(ms: number, signal: EndSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, ms);
    timer.unref();
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
