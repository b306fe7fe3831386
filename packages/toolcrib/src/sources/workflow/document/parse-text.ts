import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CribError } from '../../../model/crib-error.ts';
import type { ParseOutcome } from './parse-worker.ts';

const longestDocument = 1_000_000;
const timeLimitMs = 10_000;

// The source runs as TypeScript, the package as JavaScript; the worker's file stands beside this one in both.
const workerFile = new URL(`./parse-worker${extname(import.meta.url)}`, import.meta.url);

/** JSON or YAML that may have been written by anybody, on a thread of its own that is ended where it takes too much. Throws `VALIDATION_ERROR`. */
export async function parseText(text: string, signal: AbortSignal): Promise<{ value: unknown; warnings: string[] }> {
  if (text.length > longestDocument) throw wrong(`The document is longer than ${longestDocument} characters`);
  const worker = new Worker(workerFile, {
    // Nothing of ours is of use to the work, and the environment holds secrets.
    env: {},
    execArgv: [],
    workerData: text,
    resourceLimits: { maxOldGenerationSizeMb: 256, stackSizeMb: 4 },
  });
  const tooLong = AbortSignal.timeout(timeLimitMs);
  try {
    const [outcome] = (await once(worker, 'message', { signal: AbortSignal.any([signal, tooLong]) })) as [ParseOutcome];
    if ('failure' in outcome) throw wrong(outcome.failure);
    return { value: JSON.parse(outcome.json), warnings: outcome.warnings };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CribError) throw error;
    throw wrong('The document took too much time or memory to be read');
  } finally {
    await worker.terminate();
  }
}

function wrong(message: string): CribError {
  return new CribError('VALIDATION_ERROR', message);
}
