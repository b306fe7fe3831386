import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { CribError } from '../../model/crib-error.ts';
import type { PostgresDatabase } from '../../store/database.ts';
import { createExclusively } from '../../store/exclusively.ts';
import type { Durable } from '../durable.ts';
import type { Engine } from './engine.ts';
import { createLeftJobs } from './left-jobs.ts';
import { within } from './within.ts';

interface PostgresDurableInput {
  database: PostgresDatabase;
  warn(message: string): void;
  /** How long each part of closing may take, even if the database hangs. */
  closeWithinMs?: number;
}

const lookEveryMs = 1000;
/** "dbos" in ASCII. */
const launchLock = 0x64626f73;

/**
 * [OPS-2] Runs jobs on DBOS, for servers that share a database. DBOS is loaded for the first job, or when abandoned jobs are found; until
 * then a server only polls for those.
 */
export function createPostgresDurable({ database, warn, closeWithinMs = 5000 }: PostgresDurableInput): Durable {
  const executorId = randomUUID();
  const leftJobs = createLeftJobs(database.pool);
  const exclusively = createExclusively(database, launchLock);
  const outside = AsyncLocalStorage.snapshot();
  const opened = new AsyncDisposableStack();
  let held: AsyncDisposable | undefined;
  let launching: Promise<Engine> | undefined;
  let resume: Parameters<Durable['recover']>[0] | undefined;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let isClosed = false;
  let hasFailed = false;

  async function launch(): Promise<Engine> {
    const { launchEngine } = await import('./engine.ts');
    const { holdExecutorLock } = await import('./executor-lock.ts');
    const { clientConfig } = database;
    // Acquired before there are jobs that others could take over, and only once, however often a launch fails.
    held ??= opened.adopt(await holdExecutorLock(clientConfig, executorId), (lock) =>
      within(closeWithinMs, Promise.resolve(lock[Symbol.asyncDispose]())),
    );
    const launchOnce = () =>
      launchEngine({
        url: clientConfig.connectionString ?? '',
        executorId,
        resume: (job, records) =>
          resume === undefined ? Promise.reject(new Error('This server does not resume jobs yet')) : resume(job, records),
        closeWithinMs,
        outside,
        warn,
      });
    // One server at a time: the first creates DBOS's tables, and doing so concurrently fails. Retried, because older servers take no lock.
    const engine = await exclusively(() => launchOnce().catch(launchOnce));
    return opened.adopt(engine, (launched) => launched.close());
  }

  function engine(): Promise<Engine> {
    if (isClosed) return Promise.reject(new CribError('SERVICE_UNAVAILABLE', 'The server is stopping: try again'));
    launching ??= outside(launch).catch((error: unknown) => {
      launching = undefined;
      throw error;
    });
    return launching;
  }

  async function look(): Promise<void> {
    try {
      const { isWaiting, dead } = await leftJobs.find(executorId);
      if (dead.length > 0) await (await engine()).takeOver(dead);
      else if (isWaiting) await engine();
      hasFailed = false;
    } catch (error) {
      if (!hasFailed && !isClosed) warn(`Searching for calls abandoned by other servers failed: ${String(error)}`);
      hasFailed = true;
    }
  }

  function lookLater(): void {
    timer = setTimeout(() => {
      looking = look().finally(() => {
        if (!isClosed) lookLater();
      });
    }, lookEveryMs);
    timer.unref();
  }

  return {
    run: async (job, work) => (await engine()).begin(job, work),
    async recover(go) {
      resume = go;
      await look();
      lookLater();
    },
    unfinished: () => leftJobs.unfinished(),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await within(closeWithinMs, Promise.allSettled([looking, launching]));
      await opened.disposeAsync();
    },
  };
}
