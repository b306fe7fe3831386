import { setImmediate as turn } from 'node:timers/promises';
import type { ProcessLimits } from '../../../model/process-limits.ts';
import { readUsage, type ProcessUsage } from './linux-process.ts';

/** Checks every few seconds what each server uses as a group of processes, which no limit of the kernel covers. */
export interface ResourceWatch {
  /** `exceeded` is called once, with words that follow `was ended, because`. Returns a function that ends the watching. */
  add(leader: number, limits: ProcessLimits, exceeded: (reason: string) => void): () => void;
}

interface Watched {
  limits: ProcessLimits;
  exceeded(reason: string): void;
}

interface Sum {
  processes: number;
  bytes: number;
}

const lookEveryMs = 2000;
/** Reading this many takes about half a millisecond; then others get their turn. */
const processesPerTurn = 64;
const mebibyte = 1_048_576;

export function createResourceWatch({ everyMs = lookEveryMs }: { everyMs?: number } = {}): ResourceWatch {
  const watched = new Map<number, Watched>();
  let timer: NodeJS.Timeout | undefined;

  function schedule(): void {
    if (timer !== undefined || watched.size === 0) return;
    timer = setTimeout(() => void look(), everyMs);
    timer.unref();
  }

  async function look(): Promise<void> {
    const usage = await usageOf(new Set(watched.keys()));
    for (const [leader, sum] of usage) {
      const found = watched.get(leader);
      const reason = found === undefined ? undefined : excess(sum, found.limits);
      if (reason === undefined) continue;
      watched.delete(leader);
      found?.exceeded(reason);
    }
    timer = undefined;
    schedule();
  }

  return {
    add(leader, limits, exceeded) {
      if (limits.memory_mb === undefined && limits.processes === undefined) return () => undefined;
      const entry = { limits, exceeded };
      watched.set(leader, entry);
      schedule();
      return () => void (watched.get(leader) === entry && watched.delete(leader));
    },
  };
}

function excess({ processes, bytes }: Sum, limits: ProcessLimits): string | undefined {
  const { memory_mb: memory = Infinity, processes: most = Infinity } = limits;
  const used = Math.ceil(bytes / mebibyte);
  if (used > memory) return `it used ${used} MiB of memory, and may use ${memory} (memory_mb)`;
  return processes > most ? `it had ${processes} processes, and may have ${most} (processes)` : undefined;
}

/** The use of each group, including descendants that have left it. Shared pages count for every process that has them. */
async function usageOf(leaders: ReadonlySet<number>): Promise<Map<number, Sum>> {
  const all = new Map<number, ProcessUsage>();
  let read = 0;
  for (const process of readUsage()) {
    all.set(process.pid, process);
    if (++read % processesPerTurn === 0) await turn();
  }
  const sums = new Map<number, Sum>();
  for (const process of all.values()) {
    const leader = leaderOf(process, all, leaders);
    if (leader === undefined) continue;
    const sum = sums.get(leader) ?? { processes: 0, bytes: 0 };
    sums.set(leader, { processes: sum.processes + 1, bytes: sum.bytes + process.residentBytes });
  }
  return sums;
}

function leaderOf(process: ProcessUsage, all: ReadonlyMap<number, ProcessUsage>, leaders: ReadonlySet<number>): number | undefined {
  const seen = new Set<number>();
  for (let one: ProcessUsage | undefined = process; one !== undefined && !seen.has(one.pid); one = all.get(one.parent)) {
    if (leaders.has(one.group)) return one.group;
    seen.add(one.pid);
  }
  return undefined;
}
