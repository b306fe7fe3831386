import type { CallLimits } from '../model/call-limits.ts';
import { CribError } from '../model/crib-error.ts';
import { counted } from '../text/counted.ts';

/** Rate and concurrency limits for one principal or one tool. Absent means unlimited. */
export type Limits = Pick<CallLimits, 'rate_per_second' | 'burst' | 'concurrency'>;

interface Usage {
  limits: Limits;
  tokens: number;
  refilledAt: number;
  running: number;
}

/** Tolerates rounding: fractions may add up to slightly less than one token, and a caller who waited as told must be admitted. */
const oneCall = 1 - 1e-9;

/** Above this number, keys that are idle and fully refilled are forgotten: they are as good as new. */
const maxTracked = 50_000;

export interface Gate {
  /** Throws `RATE_LIMITED` when one more call would be too many; takes nothing. */
  check(key: string, limits: Limits): void;
  /** Throws like `check`; else takes a token and counts the call until `leave`. */
  enter(key: string, limits: Limits): void;
  leave(key: string, limits: Limits): void;
  /** How many keys are remembered. */
  readonly tracked: number;
}

interface GateInput {
  /** For the message: `You`. */
  who: string;
  /** The noun for the requests that count against the rate, for the message. */
  what?: string;
  now?: (() => number) | undefined;
}

/** [EXEC-7] A token bucket and a count of running calls per key. */
export function createGate({ who, what = 'calls', now = () => performance.now() }: GateInput): Gate {
  const usages = new Map<string, Usage>();

  function forgetIdle(): void {
    const at = now();
    for (const [key, usage] of usages) {
      if (usage.running === 0 && refill(usage, at) >= burstOf(usage.limits)) usages.delete(key);
    }
  }

  /** The usage of the key; throws if one more call would be too many. */
  function checked(key: string, limits: Limits): Usage {
    let usage = usages.get(key);
    if (usage === undefined) {
      if (usages.size >= maxTracked) forgetIdle();
      usage = { limits, tokens: burstOf(limits), refilledAt: now(), running: 0 };
      usages.set(key, usage);
    }
    usage.limits = limits;
    if (limits.concurrency !== undefined && usage.running >= limits.concurrency) {
      throw new CribError('RATE_LIMITED', `${who} may run ${counted(limits.concurrency, 'call')} at a time: wait for one to end`, {
        retryAfterMs: 1000,
      });
    }
    if (limits.rate_per_second !== undefined) {
      const tokens = refill(usage, now());
      if (tokens < oneCall) {
        const retryAfterMs = Math.ceil(((1 - tokens) / limits.rate_per_second) * 1000);
        throw new CribError('RATE_LIMITED', `${who} may make ${limits.rate_per_second} ${what} a second: try again later`, {
          retryAfterMs,
        });
      }
    }
    return usage;
  }

  return {
    check(key, limits) {
      if (!isUnlimited(limits)) checked(key, limits);
    },
    enter(key, limits) {
      if (isUnlimited(limits)) return;
      const usage = checked(key, limits);
      if (limits.rate_per_second !== undefined) usage.tokens = Math.max(0, usage.tokens - 1);
      usage.running++;
    },
    leave(key, limits) {
      if (isUnlimited(limits)) return;
      const usage = usages.get(key);
      if (usage !== undefined && usage.running > 0) usage.running--;
    },
    get tracked() {
      return usages.size;
    },
  };
}

export function isUnlimited(limits: Limits): boolean {
  return limits.rate_per_second === undefined && limits.concurrency === undefined;
}

function burstOf(limits: Limits): number {
  return limits.burst ?? Math.max(1, limits.rate_per_second ?? 1);
}

function refill(usage: Usage, at: number): number {
  const { limits } = usage;
  const earned = ((at - usage.refilledAt) / 1000) * (limits.rate_per_second ?? 0);
  usage.tokens = Math.min(burstOf(limits), usage.tokens + Math.max(0, earned));
  usage.refilledAt = at;
  return usage.tokens;
}
