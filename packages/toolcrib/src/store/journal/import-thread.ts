import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { AuditHead } from '../../model/audit.ts';
import type { ChainKeys } from '../audit/mac.ts';
import type { Imported } from './importer.ts';
import type { Place } from './position.ts';

/** Brings a journal into the database, on whatever thread. */
export interface ImportRunner {
  /** One at a time. `bytes` are about to be brought in. */
  importUpTo(place: Place, bytes: number): Promise<Imported>;
  close(): Promise<void>;
}

/** What the thread has to know. */
export interface ImportThreadData {
  /** The last row of the chain that it continues. */
  head: AuditHead | undefined;
  databaseFile: string;
  newest: ChainKeys['newest'];
  folder: string;
  server: string;
}

/** An error as it travels between threads: what it is told by must not be lost. */
interface ThreadError {
  message: string;
  code?: string | undefined;
  errcode?: number | undefined;
}

export type ThreadMessage = { imported: Imported } | { failed: ThreadError } | { warning: string };

// The source runs as TypeScript, the package as JavaScript; in both, the worker's file is beside this one.
const workerFile = new URL(`./import-worker${extname(import.meta.url)}`, import.meta.url);

interface ImportThread extends Pick<ImportRunner, 'close'> {
  readonly isRunning: boolean;
  importUpTo(place: Place): Promise<Imported>;
}

/** A thread with its own connection. It starts when there is something to do, and again where it has ended. */
export function createImportThread(dataOf: () => ImportThreadData, warn: (message: string) => void): ImportThread {
  let worker: Worker | undefined;
  let asked: PromiseWithResolvers<Imported> | undefined;

  function start(): Worker {
    // It needs no environment variables, and they hold secrets.
    const started = new Worker(workerFile, {
      workerData: dataOf(),
      env: {},
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    started.on('message', (message: ThreadMessage) => {
      if ('warning' in message) warn(message.warning);
      else if ('imported' in message) settle(({ resolve }) => resolve(message.imported));
      else settle(({ reject }) => reject(Object.assign(new Error(message.failed.message), message.failed)));
    });
    started.on('error', (error: unknown) => settle(({ reject }) => reject(error)));
    started.on('exit', () => {
      if (worker !== started) return;
      worker = undefined;
      settle(({ reject }) => reject(new Error('The thread that writes the record into the database has ended')));
    });
    return started;
  }

  function settle(how: (waiting: PromiseWithResolvers<Imported>) => void): void {
    // A thread that has nothing to do keeps no process alive.
    worker?.unref();
    if (asked !== undefined) how(asked);
    asked = undefined;
  }

  return {
    get isRunning() {
      return worker !== undefined;
    },
    importUpTo(place) {
      asked = Promise.withResolvers();
      worker ??= start();
      worker.ref();
      worker.postMessage(place, []);
      return asked.promise;
    },
    async close() {
      const ending = worker;
      if (ending === undefined) return;
      // What comes from now on is for another one.
      worker = undefined;
      const ended = new Promise((resolve) => ending.once('exit', resolve));
      ending.ref();
      ending.postMessage('close', []);
      await ended;
    },
  };
}
