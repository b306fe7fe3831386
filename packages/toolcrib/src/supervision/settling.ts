import type { SourceStatus } from '../model/source.ts';

export interface Settling {
  /** Must be called whenever a status has changed. */
  changed(): void;
  /** Resolves when the source is neither starting nor restarting, or after the timeout. */
  settled(sourceId: string, timeoutMs: number): Promise<void>;
}

/** [SRC-9] Waits for the outcome of a start. */
export function createSettling({ statusOf }: { statusOf(sourceId: string): SourceStatus | undefined }): Settling {
  const waiting = new Set<() => void>();
  return {
    changed() {
      for (const look of waiting) look();
    },
    settled(sourceId, timeoutMs) {
      return new Promise((resolve) => {
        const timer = setTimeout(done, timeoutMs);
        function done(): void {
          clearTimeout(timer);
          waiting.delete(look);
          // Status changes that follow in the same tick, such as `retry_at` after a failed start, belong to the outcome.
          setImmediate(resolve);
        }
        function look(): void {
          const state = statusOf(sourceId)?.state;
          if (state !== 'starting' && state !== 'restarting') done();
        }
        waiting.add(look);
        look();
      });
    },
  };
}
