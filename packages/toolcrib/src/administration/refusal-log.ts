import type { ErrorCode } from '../model/crib-error.ts';
import type { Refusal, RefusalKind } from '../model/refusal.ts';
import { uuidV7 } from '../model/uuid-v7.ts';

export interface RefusalLog {
  /** Returns at once: a refused caller does not wait for the record. */
  note(refusal: Omit<Refusal, 'id' | 'at' | 'count'>): void;
  /** Resolves when all refusals so far are written, or writing them has failed. */
  flush(): Promise<void>;
}

interface RefusalLogInput {
  append(refusals: readonly Refusal[]): Promise<void>;
  warn(message: string): void;
  /** How long refusals are collected before they are written. */
  collectMs?: number;
  /** How many of each kind are listed per batch; the rest are only counted, so that a flood of bad tokens cannot fill the disk. */
  mostListed?: number;
}

/** [SEC-4] The record of requests refused for lack of a valid token or of permission. */
export function createRefusalLog({ append, warn, collectMs = 1000, mostListed = 20 }: RefusalLogInput): RefusalLog {
  let listed: Refusal[] = [];
  let counted = new Map<RefusalKind, { code: ErrorCode; count: number }>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let failing = false;

  function count(kind: RefusalKind, code: ErrorCode, by: number): void {
    counted.set(kind, { code, count: (counted.get(kind)?.count ?? 0) + by });
  }

  /** Limited by kind, so that a flood of unauthenticated requests does not hide what authenticated users tried. */
  function keep(refusal: Refusal): void {
    const { kind, code } = refusal;
    if (listed.filter((other) => other.kind === kind).length < mostListed) listed.push(refusal);
    else count(kind, code, 1);
  }

  async function write(): Promise<void> {
    if (listed.length === 0 && counted.size === 0) return;
    const [rows, sums] = [listed, counted];
    [listed, counted] = [[], new Map()];
    try {
      await append([...rows, ...[...sums].map(([kind, sum]) => sumOf(kind, sum))]);
      failing = false;
    } catch (error) {
      // Kept for the next attempt, under the same limit as refusals that have arrived since.
      const all = [...rows, ...listed];
      listed = [];
      for (const refusal of all) keep(refusal);
      for (const [kind, sum] of sums) count(kind, sum.code, sum.count);
      if (!failing) warn(`Refused requests could not be recorded: ${String(error)}. They are kept, and written with the next refusal.`);
      failing = true;
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    return writing;
  }

  return {
    note(refusal) {
      keep({ id: uuidV7(), at: Date.now(), ...refusal, count: 1 });
      // Shutdown flushes the rest, so the timer need not keep the process alive.
      timer ??= setTimeout(() => void flush(), collectMs).unref();
    },
    flush,
  };
}

const nobody = { issuer: null, subject: null, client: null, address: null, method: null, route: null, request_id: null, user_name: null };

function sumOf(kind: RefusalKind, { code, count }: { code: ErrorCode; count: number }): Refusal {
  return { id: uuidV7(), at: Date.now(), kind, code, reason: 'Too many at once to be listed one by one', ...nobody, count };
}
