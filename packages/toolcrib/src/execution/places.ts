import type { CallLimits } from '../model/call-limits.ts';
import { CribError } from '../model/crib-error.ts';
import { createFairQueue, type FairQueue } from '../model/fair-queue.ts';

/** Somebody who waits for a place. */
export interface Waiting {
  /** Resolves when the place is theirs; never after `giveUp`. */
  readonly ready: Promise<void>;
  /** Leaves the queue, or gives back the place that has just become theirs. */
  giveUp(): void;
}

export interface Places {
  /** Throws `RATE_LIMITED` where there is neither a place nor room to wait for one; takes nothing. */
  check(key: string, limits: CallLimits): void;
  /** Takes a place, or waits for one. Whoever was let in is never turned away here, so the queue's length is for `check` alone. */
  take(key: string, limits: CallLimits, caller: string): Waiting | undefined;
  leave(key: string): void;
  /** How many wait. */
  readonly waiting: number;
}

interface Usage {
  concurrency: number;
  running: number;
  queue: FairQueue<() => void>;
}

/** [EXEC-7] How many calls run at once per key, and who is next. Callers take turns, so that nobody waits for all of somebody else's. */
export function createPlaces({ who }: { who: string }): Places {
  const usages = new Map<string, Usage>();
  let waiting = 0;

  function usageOf(key: string, concurrency: number): Usage {
    let usage = usages.get(key);
    if (usage === undefined) {
      const queue = createFairQueue<() => void>({ most: Infinity, mostPerCaller: Infinity });
      usage = { concurrency, running: 0, queue };
      usages.set(key, usage);
    }
    usage.concurrency = concurrency;
    return usage;
  }

  /** Gives free places to those who wait; also when there are suddenly more of them. */
  function handOn(usage: Usage): void {
    while (usage.running < usage.concurrency) {
      const grant = usage.queue.take();
      if (grant === undefined) return;
      usage.running++;
      waiting--;
      grant();
    }
  }

  function leave(key: string): void {
    const usage = usages.get(key);
    if (usage === undefined) return;
    usage.running--;
    handOn(usage);
    if (usage.running === 0) usages.delete(key);
  }

  return {
    check(key, { concurrency, queue: longest = 0 }) {
      if (concurrency === undefined) return;
      const usage = usages.get(key);
      if (usage === undefined || usage.running < concurrency || usage.queue.size < longest) return;
      const full = longest === 0 ? 'wait for one to end' : `and ${longest} wait already: try again later`;
      throw new CribError('RATE_LIMITED', `${who} may run ${concurrency} calls at once${longest === 0 ? ': ' : ', '}${full}`, {
        retryAfterMs: 1000,
      });
    },
    take(key, { concurrency }, caller) {
      if (concurrency === undefined) return undefined;
      const usage = usageOf(key, concurrency);
      handOn(usage);
      if (usage.running < concurrency) {
        usage.running++;
        return undefined;
      }
      const { promise: ready, resolve } = Promise.withResolvers<void>();
      let granted = false;
      const grant = () => {
        granted = true;
        resolve();
      };
      usage.queue.push(caller, grant);
      waiting++;
      return {
        ready,
        giveUp() {
          if (granted) return leave(key);
          usage.queue.remove(caller, grant);
          waiting--;
        },
      };
    },
    leave,
    get waiting() {
      return waiting;
    },
  };
}
