import type { Store } from '../store/store.ts';
import { formatHead } from '../model/audit.ts';

interface UpkeepInput {
  store: Store;
  /** How many days each is kept. */
  days: { calls: number; changes: number; artifacts: number };
  /** Tells what is left of servers that were killed; not where that was told at the start. */
  abandonLost?: (() => Promise<void>) | undefined;
  /** [SEC-4] Told how far the record has come, so that an end which is cut off later shows. */
  onAuditHeads?: ((heads: string[]) => void) | undefined;
  warn(message: string): void;
  /** How often it looks for calls of killed servers. */
  lostEveryMs?: number;
}

export interface Upkeep {
  stop(): void;
  tellHeads(): Promise<void>;
}

const everyMs = 3_600_000;
const dayMs = 86_400_000;

/** Every hour, what was kept for long enough is let go of. What killed servers were at is told sooner: somebody may wait for it. */
export function startUpkeep({ store, days, abandonLost, onAuditHeads, warn, lostEveryMs = 30_000 }: UpkeepInput): Upkeep {
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
    onAuditHeads?.((await store.audit.heads()).map(formatHead));
  }

  return { stop: () => timers.forEach((timer) => clearInterval(timer)), tellHeads };
}
