import type { CallLimits } from '../model/call-limits.ts';
import { CribError } from '../model/crib-error.ts';
import { createFairQueue, type FairQueue } from './fair-queue.ts';
import { counted } from '../text/counted.ts';

/** A call that waits for a slot. */
export interface Waiting {
  /** Resolves when the slot is granted; never after `giveUp`. */
  readonly ready: Promise<void>;
  /** Leaves the queue, or gives back the slot if it was just granted. */
  giveUp(): void;
}

export interface Slots {
  /** Throws `RATE_LIMITED` if there is neither a slot nor room in the queue; takes nothing. */
  check(key: string, limits: CallLimits): void;
  /** Takes a slot (undefined), or waits for one. Never refuses a caller who passed `check`: only `check` looks at the queue length. */
  take(key: string, limits: CallLimits, caller: string): Waiting | undefined;
  leave(key: string): void;
  /** How many calls wait. */
  readonly waiting: number;
}

interface Usage {
  concurrency: number;
  running: number;
  queue: FairQueue<() => void>;
}

/** [EXEC-7] Limits concurrent calls per key. Callers take turns, so that nobody waits for all calls of another caller. */
export function createSlots({ who }: { who: string }): Slots {
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

  /** Grants free slots to waiting calls, also after the limit was raised. */
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
      throw new CribError('RATE_LIMITED', `${who} may run ${counted(concurrency, 'call')} at a time${longest === 0 ? ': ' : ', '}${full}`, {
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
