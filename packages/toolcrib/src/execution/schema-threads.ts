import { extname } from 'node:path';
import { createWorkerPool, type WorkerPool } from '../threads/worker-pool.ts';
import type { ArgumentFault } from './argument-fault.ts';

/** JSON travels as text: it is parsed where it cannot hold up anybody else. */
export interface SchemaWork {
  /** Of the tool's definition: the thread keeps what it has compiled by it. */
  hash: string;
  schema: string;
  args: string;
}

export type SchemaOutcome = { fault: ArgumentFault | undefined } | { unusable: string };

// The source runs as TypeScript, the package as JavaScript; the worker's file stands beside this one in both.
const workerFile = new URL(`./schema-worker${extname(import.meta.url)}`, import.meta.url);

interface SchemaThreadsInput {
  /** For compiling, and again for checking. What is usual is far more than anything honest takes. */
  timeLimitMs?: number | undefined;
  mostWaiting?: number | undefined;
}

/**
 * Threads for schemas and arguments that would hold everybody up. One caller has one of them at a time, so that nobody who makes them busy
 * keeps others from theirs.
 */
export function createSchemaThreads({ timeLimitMs = 5000, mostWaiting = 64 }: SchemaThreadsInput = {}): WorkerPool<
  SchemaWork,
  SchemaOutcome
> {
  return createWorkerPool(workerFile, { workers: 2, timeLimitMs, memoryLimitMb: 256, mostWaiting, threadsPerCaller: 1 });
}
