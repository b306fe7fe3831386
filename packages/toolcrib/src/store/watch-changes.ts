import { setTimeout as delay } from 'node:timers/promises';
import type { QueryConfig } from 'pg';
import { z } from 'zod';
import type { ChangeTopic } from '../model/event.ts';
import type { Json } from '../model/json.ts';
import { changesChannel, signalsChannel } from './channels.ts';
import type { Database, PostgresDatabase } from './database.ts';
import { listen } from './listen.ts';

export interface ChangeWatch {
  database: Database;
  /**
   * What these topics are about may have changed, up to this event. May be called again for the same change, and for this server's own
   * changes. Where it throws or rejects it is called again until it succeeds, so that a server which could not read a change loses none.
   */
  onChange(topics: Set<ChangeTopic>, lastId: number): void | Promise<void>;
  /** Every change before this moment, of `performance.now()`, has been reported. Called after every look that succeeded. */
  onSeen?(at: number): void;
  /** A signal of any server, this one too. */
  onSignal?(name: string, payload: Json): void;
  /** Told when the database is lost and when it is back, never once per attempt. */
  warn(message: string): void;
  pollIntervalMs?: number;
}

const everyTopic = ['source', 'tool', 'group', 'policy', 'secret', 'connection', 'call', 'login'] as const satisfies ChangeTopic[];
const signalSchema = z.strictObject({ name: z.string(), payload: z.json() });
/** A connection that has gone silent must not be waited for until nobody may be let in any more. */
const queryTimeoutMs = 2000;

/**
 * Reports what other servers changed. Start it before reading what it watches over, so that nothing falls in between. The table of
 * events is the only truth: a notification merely makes us look at once, so one that is lost costs half a second and nothing else.
 * On SQLite there is one server and nothing to watch.
 */
export async function watchChanges(watch: ChangeWatch): Promise<AsyncDisposable> {
  if (watch.database.dialect === 'sqlite') return { async [Symbol.asyncDispose]() {} };
  const { database } = watch;
  const { pollIntervalMs = 500 } = watch;
  const closing = new AbortController();
  // A start without knowing the last event reports everything once, which is harmless.
  let lastId = await readLastId(database).catch(() => 0);
  let failing = false;
  let wake = new AbortController();

  async function look(): Promise<void> {
    const began = performance.now();
    const newest = await readLastId(database);
    if (newest === lastId) return watch.onSeen?.(began);
    // Fewer events than before: the database was put back to an earlier state, and anything may be different.
    const topics = newest < lastId ? everyTopic : await readTopics(database, lastId, newest);
    await watch.onChange(new Set(topics), newest);
    lastId = newest;
    watch.onSeen?.(began);
  }

  async function poll(): Promise<void> {
    while (!closing.signal.aborted) {
      await delay(pollIntervalMs, undefined, { signal: AbortSignal.any([wake.signal, closing.signal]) }).catch(() => {});
      if (closing.signal.aborted) return;
      wake = new AbortController();
      try {
        await look();
        if (failing) watch.warn('Changes made on other servers are seen again');
        failing = false;
      } catch (error) {
        if (!failing) watch.warn(`Changes made on other servers cannot be seen: ${String(error)}. Trying again.`);
        failing = true;
      }
    }
  }

  function receive(channel: string, text: string): void {
    if (channel === changesChannel) wake.abort();
    const signal = channel === signalsChannel ? parseSignal(text) : undefined;
    if (signal === undefined) return;
    try {
      watch.onSignal?.(signal.name, signal.payload);
    } catch (error) {
      watch.warn(`The signal ${signal.name} of another server failed: ${String(error)}`);
    }
  }

  const listening = await listen({
    clientConfig: database.clientConfig,
    channels: [changesChannel, signalsChannel],
    onNotification: receive,
    // Changes that were announced while nobody listened are found in the table.
    onListening: () => wake.abort(),
    warn: (message) => watch.warn(message),
  });
  const polling = poll();
  return {
    async [Symbol.asyncDispose]() {
      closing.abort();
      await Promise.all([polling, listening[Symbol.asyncDispose]()]);
    },
  };
}

/** Anybody who may connect to the database may notify: payloads that are not our signals are ignored. */
function parseSignal(text: string): z.output<typeof signalSchema> | undefined {
  try {
    return signalSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

async function readLastId({ pool }: PostgresDatabase): Promise<number> {
  const { rows } = await pool.query<{ id: number }>(bounded('select coalesce(max(id), 0) as id from events'));
  return rows[0]?.id ?? 0;
}

async function readTopics({ pool }: PostgresDatabase, after: number, upTo: number): Promise<ChangeTopic[]> {
  const query = bounded('select distinct topic from events where id > $1 and id <= $2', [after, upTo]);
  const { rows } = await pool.query<{ topic: ChangeTopic }>(query);
  return rows.map(({ topic }) => topic);
}

/** The library gives up waiting after `query_timeout`; its types do not know the setting on a single query. */
function bounded(text: string, values: number[] = []): QueryConfig & { query_timeout: number } {
  return { text, values, query_timeout: queryTimeoutMs };
}
