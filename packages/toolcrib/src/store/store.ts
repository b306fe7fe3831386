import { sql } from 'kysely';
import { CribError } from '../model/crib-error.ts';
import type { ChangeEvent } from '../model/event.ts';
import type { Json } from '../model/json.ts';
import { createAnswers, type Answers } from './answers.ts';
import { createCalls, type Calls } from './calls.ts';
import { changesChannel, signalsChannel } from './channels.ts';
import { createConnections, type Connections } from './connections.ts';
import type { Database } from './database.ts';
import { createEvents, insertEvent, type Events } from './events.ts';
import { createGroups, type Groups } from './groups.ts';
import { nameConflicts } from './name-conflicts.ts';
import { createPolicies, type Policies } from './policies.ts';
import { createSecrets, type Secrets } from './secrets.ts';
import { createSources, type Sources } from './sources.ts';
import type { Queries } from './tables.ts';
import { createTools, type Tools } from './tools.ts';

/** Everything that is kept, one entry per noun; on the store itself or within one change. */
export interface StoreNouns {
  readonly sources: Sources;
  readonly tools: Tools;
  readonly groups: Groups;
  readonly policies: Policies;
  readonly secrets: Secrets;
  readonly connections: Connections;
  readonly calls: Calls;
  readonly events: Events;
  readonly answers: Answers;
}

export type Change = Omit<ChangeEvent, 'id' | 'at'>;

export interface Store extends StoreNouns {
  /**
   * Runs `mutate` and records the change in one transaction, and returns the event after the commit. `mutate` must use `transaction`
   * only, and do nothing but database work: on SQLite everybody else waits for it, the store's own nouns for ever. The fields of `change`
   * are read after `mutate`, which may fill in what it found in the transaction, such as `before`.
   */
  change(change: Change, mutate: (transaction: StoreNouns) => Promise<unknown>): Promise<ChangeEvent>;
  /** Reads what belongs together: everything `read` sees is of one moment. The same rule as for `mutate` holds. */
  snapshot<Result>(read: (nouns: StoreNouns) => Promise<Result>): Promise<Result>;
  /** Tells every server that watches, this one too, something that needs no record. Nobody listens on SQLite: there is one server. */
  signal(name: string, payload: Json): Promise<void>;
}

/** "crib" in ASCII: the lock under which changes get their ids, so that a reader who has seen one has seen all before it. */
const changeLock = 0x63726962;
/** A server that hangs in the middle of a change must not keep the others from theirs. */
const idleInChangeMs = 30_000;
/** PostgreSQL takes less than 8000 bytes in one notification. */
const largestSignal = 7900;

export function createStore(database: Database, { now = Date.now }: { now?: () => number } = {}): Store {
  const { kysely, dialect } = database;
  return {
    ...nouns(database, kysely),

    change: (change, mutate) =>
      nameConflicts(
        kysely.transaction().execute(async (transaction) => {
          if (dialect === 'postgres') {
            await sql`select set_config('idle_in_transaction_session_timeout', ${String(idleInChangeMs)}, true)`.execute(transaction);
            await sql`select pg_advisory_xact_lock(${changeLock})`.execute(transaction);
          }
          await mutate(nouns(database, transaction));
          const { kind, topic, subject, actor, before, after } = change;
          const event = await insertEvent(transaction, { at: now(), kind, topic, subject, actor, before, after });
          if (dialect === 'postgres') await notify(transaction, changesChannel, { id: event.id, topic });
          return event;
        }),
      ),

    snapshot(read) {
      const transaction = kysely.transaction();
      // SQLite has no other isolation than this one.
      const isolated = dialect === 'postgres' ? transaction.setIsolationLevel('repeatable read').setAccessMode('read only') : transaction;
      return isolated.execute((reading) => read(nouns(database, reading)));
    },

    async signal(name, payload) {
      if (dialect === 'postgres') await notify(kysely, signalsChannel, { name, payload });
    },
  };
}

function nouns(database: Database, queries: Queries): StoreNouns {
  return {
    sources: createSources(queries),
    tools: createTools(queries),
    groups: createGroups(queries),
    policies: createPolicies(queries),
    secrets: createSecrets(queries),
    connections: createConnections(queries),
    calls: createCalls(database, queries),
    events: createEvents(queries),
    answers: createAnswers(queries),
  };
}

async function notify(queries: Queries, channel: string, message: Json): Promise<void> {
  const text = JSON.stringify(message);
  if (Buffer.byteLength(text) > largestSignal)
    throw new CribError('PAYLOAD_TOO_LARGE', `A signal may have ${largestSignal} bytes. Send an id instead.`);
  await sql`select pg_notify(${channel}, ${text})`.execute(queries);
}
