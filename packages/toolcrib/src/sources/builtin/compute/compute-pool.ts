import { extname } from 'node:path';
import { createWorkerPool, type Stopped, type WorkerPoolOptions } from '../../../threads/worker-pool.ts';
import type { Work, WorkOutcome } from './work.ts';

export interface ComputePool {
  /** Too much time or memory is an outcome with `failure`. Rejects with the signal's reason, or a `CribError`. */
  run(work: Work, caller: string, signal: AbortSignal): Promise<WorkOutcome>;
  close(): Promise<void>;
}

// The source runs as TypeScript, the package as JavaScript; the worker's file stands beside this one in both.
const workerFile = new URL(`./compute-worker${extname(import.meta.url)}`, import.meta.url);
const usual = { workers: 2, timeLimitMs: 2000, memoryLimitMb: 128, mostWaiting: 64 };

/** Runs queries and comparisons that a hostile caller could make endless. */
export function createComputePool(options: Partial<WorkerPoolOptions> = {}): ComputePool {
  const limits = { ...usual, ...options };
  const pool = createWorkerPool<Work, WorkOutcome>(workerFile, limits);

  function failureOf({ stopped }: Stopped): string {
    if (stopped === 'time') return `It took longer than ${limits.timeLimitMs / 1000} seconds and was stopped.`;
    return stopped === 'memory' ? `It needed more than ${limits.memoryLimitMb} MB of memory and was stopped.` : 'It broke off.';
  }

  return {
    async run(work, caller, signal) {
      const outcome = await pool.run(work, caller, signal);
      return 'stopped' in outcome ? { failure: failureOf(outcome) } : outcome;
    },
    close: () => pool.close(),
  };
}
