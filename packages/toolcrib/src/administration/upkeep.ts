import type { Store } from '../store/store.ts';
import { formatHead } from '../model/audit.ts';
import { noObserver, type Observer } from '../model/observer.ts';

interface UpkeepInput {
  store: Store;
  /** How many days each kind of record is kept. */
  days: { calls: number; changes: number; artifacts: number };
  /** Ends the calls of killed servers. Undefined with SQLite, where doing so at the start is enough. */
  abandonLost?: (() => Promise<void>) | undefined;
  observer?: Pick<Observer, 'auditHeadsRead'> | undefined;
  warn(message: string): void;
  /** How often to look for calls of killed servers. */
  lostEveryMs?: number;
}

export interface Upkeep {
  stop(): void;
  tellHeads(): Promise<void>;
}

const everyMs = 3_600_000;
const dayMs = 86_400_000;

/** Deletes expired records every hour. Looks for calls of killed servers more often: somebody may be waiting for them. */
export function startUpkeep({ store, days, abandonLost, observer = noObserver, warn, lostEveryMs = 30_000 }: UpkeepInput): Upkeep {
  const failed = (error: unknown) => warn(`Upkeep failed: ${String(error)}`);
  const timers = [setInterval(() => void sweep().catch(failed), everyMs)];
  if (abandonLost !== undefined) timers.push(setInterval(() => void abandonLost().catch(failed), lostEveryMs));
  for (const timer of timers) timer.unref();

  async function sweep(): Promise<void> {
    for (const ledger of ['calls', 'refusals'] as const) await store.audit.prune(ledger, Date.now() - days.calls * dayMs);
    await store.audit.prune('changes', Date.now() - days.changes * dayMs);
    await store.answers.deleteExpired(Date.now());
    await store.artifacts.deleteOlderThan(Date.now() - days.artifacts * dayMs);
    await tellHeads();
  }

  async function tellHeads(): Promise<void> {
    observer.auditHeadsRead((await store.audit.heads()).map(formatHead));
  }

  return { stop: () => timers.forEach((timer) => clearInterval(timer)), tellHeads };
}
