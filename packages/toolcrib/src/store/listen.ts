import { setTimeout as delay } from 'node:timers/promises';
import type { Client, ClientConfig } from 'pg';

export interface Listening {
  clientConfig: ClientConfig;
  /** Names we chose ourselves: they become part of a statement. */
  channels: readonly string[];
  onNotification(channel: string, text: string): void;
  /** Called each time the channels are open, the first time too. */
  onListening(): void;
  warn(message: string): void;
}

const heartbeatMs = 10_000;
const heartbeatTimeoutMs = 5000;
const longestPauseMs = 5000;

/**
 * Keeps one connection open that hears PostgreSQL's notifications, and opens it again, with growing pauses, whenever it breaks. Returns
 * after the first attempt, whether it worked or not.
 */
export async function listen(listening: Listening): Promise<AsyncDisposable> {
  const { default: pg } = await import('pg');
  const closing = new AbortController();
  const firstAttempt = Promise.withResolvers<void>();
  let failures = 0;

  /** Resolves when the connection is over. */
  async function hear(client: Client): Promise<void> {
    const over = new AbortController();
    // Every way a connection can end comes through one of these; without a listener an error would end the process.
    client.on('error', () => over.abort());
    client.on('end', () => over.abort());
    client.on('notification', ({ channel, payload = '' }) => listening.onNotification(channel, payload));
    await client.connect();
    await client.query(listening.channels.map((channel) => `listen ${channel}`).join('; '));
    if (failures > 0) listening.warn('The connection for notifications of other servers is open again');
    failures = 0;
    listening.onListening();
    firstAttempt.resolve();
    const ended = AbortSignal.any([over.signal, closing.signal]);
    while (!ended.aborted) {
      await delay(heartbeatMs, undefined, { signal: ended }).catch(() => {});
      // A connection whose other end vanished without a word is noticed only by asking.
      if (!ended.aborted) await client.query(heartbeat);
    }
    if (!closing.signal.aborted) throw new Error('the connection was closed');
  }

  async function keepHearing(): Promise<void> {
    while (!closing.signal.aborted) {
      const client = new pg.Client({ ...listening.clientConfig, application_name: 'toolcrib-listen' });
      try {
        await hear(client);
      } catch (error) {
        if (failures++ === 0)
          listening.warn(`The connection for notifications of other servers is lost: ${String(error)}. Opening it again.`);
      }
      await end(client);
      firstAttempt.resolve();
      const pauseMs = failures <= 1 ? 0 : Math.min(longestPauseMs, 50 * 2 ** failures);
      if (failures > 0) await delay(pauseMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  const hearing = keepHearing();
  await firstAttempt.promise;
  return {
    async [Symbol.asyncDispose]() {
      closing.abort();
      await hearing;
    },
  };
}

const heartbeat = { text: 'select 1', query_timeout: heartbeatTimeoutMs };

async function end(client: Client): Promise<void> {
  // The listeners stay: a connection that is ended can still report an error. One that does not answer is not waited for.
  const ended = client.end().catch(() => {});
  await Promise.race([ended, delay(1000, undefined, { ref: false })]);
  client.connection.stream.destroy();
}
