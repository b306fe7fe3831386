import { extname } from 'node:path';
import type { EndSignal } from '../../model/end-signal.ts';
import { createWorkerPool, type WorkerPoolOptions } from '../worker-pool.ts';
import type { Stopped } from '../worker-seat.ts';
import type { Work, WorkOutcome } from './work.ts';

export interface ComputePool {
  /** Exceeding the time or memory limit is an outcome with `failure`. Rejects with the signal's reason, or a `CribError`. */
  run(work: Work, caller: string, signal: EndSignal): Promise<WorkOutcome>;
  close(): Promise<void>;
}

// The source runs as TypeScript, the package as JavaScript; in both, the worker's file is beside this one.
const workerFile = new URL(`./compute-worker${extname(import.meta.url)}`, import.meta.url);
const usual = { workers: 2, timeLimitMs: 2000, memoryLimitMb: 128, mostWaiting: 64 };

/** Runs queries and comparisons on worker threads: a hostile caller could make them endless. */
export function createComputePool(options: Partial<WorkerPoolOptions> = {}): ComputePool {
  const limits = { ...usual, ...options };
  const pool = createWorkerPool<Work, WorkOutcome>(workerFile, limits);

  function failureOf({ stopped }: Stopped): string {
    if (stopped === 'time') return `It took longer than ${limits.timeLimitMs / 1000} seconds and was stopped.`;
    return stopped === 'memory'
      ? `It needed more than ${limits.memoryLimitMb} MB of memory and was stopped.`
      : 'The worker stopped unexpectedly.';
  }

  return {
    async run(work, caller, signal) {
      const outcome = await pool.run(work, caller, signal);
      return 'stopped' in outcome ? { failure: failureOf(outcome) } : outcome;
    },
    close: () => pool.close(),
  };
}
