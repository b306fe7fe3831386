import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { CribError } from '../../model/crib-error.ts';
import type { PostgresDatabase } from '../../store/database.ts';
import type { Durable } from '../durable.ts';
import type { Engine } from './engine.ts';
import { createLeftJobs } from './left-jobs.ts';

interface PostgresDurableInput {
  database: Pick<PostgresDatabase, 'pool' | 'clientConfig'>;
  warn(message: string): void;
}

const lookEveryMs = 1000;

/**
 * [OPS-2] Jobs on DBOS, for servers that share a database. It is loaded for the first job, or when there are jobs that somebody has left; until
 * then a server only looks for those.
 */
export function createPostgresDurable({ database, warn }: PostgresDurableInput): Durable {
  const executorId = randomUUID();
  const leftJobs = createLeftJobs(database.pool);
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
    // Held before there is anything that others could take over, and by one connection, however often a launch fails.
    held ??= opened.use(await holdExecutorLock(clientConfig, executorId));
    const engine = await launchEngine({
      url: clientConfig.connectionString ?? '',
      executorId,
      resume: (job, records) => (resume === undefined ? Promise.reject(new Error('Nobody goes on with jobs here')) : resume(job, records)),
      outside,
      warn,
    });
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
      if (!hasFailed && !isClosed) warn(`Calls that other servers have left could not be looked for: ${String(error)}`);
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
      await looking;
      await launching?.catch(() => undefined);
      await opened.disposeAsync();
    },
  };
}
