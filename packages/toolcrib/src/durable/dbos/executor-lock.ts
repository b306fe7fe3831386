import { setTimeout as delay } from 'node:timers/promises';
import type { ClientConfig } from 'pg';

/** The key of the advisory lock that a live server holds. */
export const lockOf = (parameter: string) => `hashtextextended('toolcrib executor ' || ${parameter}, 0)`;

const askAgainMs = 1000;

/** So that PostgreSQL notices a vanished machine within seconds, not hours. */
const keepAlive = 'set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3';

/**
 * Holds a lock that shows other servers that this one is alive. The lock has its own connection, so that PostgreSQL releases it the moment
 * the server is gone, however it ended. A broken connection is reopened; jobs that other servers have taken over meanwhile stay with them.
 */
export async function holdExecutorLock(clientConfig: ClientConfig, executorId: string): Promise<AsyncDisposable> {
  const { default: pg } = await import('pg');
  const closing = new AbortController();
  const first = Promise.withResolvers<void>();

  async function holdOnce(): Promise<void> {
    const client = new pg.Client({ ...clientConfig, application_name: 'toolcrib-durable' });
    const over = Promise.withResolvers<void>();
    const stop = () => over.resolve();
    client.on('error', stop);
    client.on('end', stop);
    closing.signal.addEventListener('abort', stop);
    try {
      await client.connect();
      await client.query(keepAlive);
      const tryLock = `select pg_try_advisory_lock(${lockOf('$1')}) as held`;
      // PostgreSQL may not have closed the previous connection yet.
      while (!closing.signal.aborted && (await client.query<{ held: boolean }>(tryLock, [executorId])).rows[0]?.held !== true) {
        await delay(askAgainMs, undefined, { signal: closing.signal }).catch(() => undefined);
      }
      first.resolve();
      await over.promise;
    } finally {
      closing.signal.removeEventListener('abort', stop);
      await client.end().catch(() => undefined);
    }
  }

  async function keepHolding(): Promise<void> {
    while (!closing.signal.aborted) {
      await holdOnce().catch(first.reject);
      if (!closing.signal.aborted) await delay(askAgainMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  const holding = keepHolding();
  const close = async () => {
    closing.abort();
    await holding;
  };
  await first.promise.catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return { [Symbol.asyncDispose]: close };
}
