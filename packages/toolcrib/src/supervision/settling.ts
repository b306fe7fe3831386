import type { SourceStatus } from '../model/source.ts';

export interface Settling {
  /** To be told whenever a status has changed. */
  changed(): void;
  /** Resolves when the source is neither starting nor restarting any more, or when the time is over. */
  settled(sourceId: string, timeoutMs: number): Promise<void>;
}

/** [SRC-9] Waiting for how a start turns out. */
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
          // What is settled in the same moment, such as when a failed start is made again, belongs to it.
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
