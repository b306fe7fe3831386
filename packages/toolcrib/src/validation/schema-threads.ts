import { extname } from 'node:path';
import { createWorkerPool, type WorkerPool } from '../threads/worker-pool.ts';
import type { ArgumentFault } from './argument-fault.ts';

/** JSON is passed as text and parsed by the worker, so that parsing does not block the main thread. */
export interface SchemaWork {
  /** The hash of the tool's definition, by which the thread caches compiled schemas. */
  hash: string;
  schema: string;
  args: string;
}

export type SchemaOutcome = { fault: ArgumentFault | undefined } | { unusable: string };

// The source runs as TypeScript, the package as JavaScript; in both, the worker's file is beside this one.
const workerFile = new URL(`./schema-worker${extname(import.meta.url)}`, import.meta.url);

interface SchemaThreadsInput {
  /** The limit for compiling, and again for checking. The default is far more than any honest schema takes. */
  timeLimitMs?: number | undefined;
  mostWaiting?: number | undefined;
}

/**
 * Threads for schemas and arguments that would block the main thread. One caller gets one thread at a time, so that nobody can keep all of
 * them busy.
 */
export function createSchemaThreads({ timeLimitMs = 5000, mostWaiting = 64 }: SchemaThreadsInput = {}): WorkerPool<
  SchemaWork,
  SchemaOutcome
> {
  return createWorkerPool(workerFile, { workers: 2, timeLimitMs, memoryLimitMb: 256, mostWaiting, threadsPerCaller: 1 });
}
