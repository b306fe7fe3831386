import type { EndSignal } from '../../../model/end-signal.ts';

/** Waits, shorter where the signal says so. It keeps no process alive. */
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
