import { sql } from 'kysely';
import { CribError } from '../model/crib-error.ts';
import type { ChangeEvent } from '../model/event.ts';
import type { Json } from '../model/json.ts';
import type { AuditHead } from '../model/audit.ts';
import { createAnswers, type Answers } from './answers.ts';
import { createArtifacts, type Artifacts } from './artifacts.ts';
import { createAudit, type Audit, type AuditJournal } from './audit/audit.ts';
import { chainEvent } from './audit/chain-event.ts';
import { createChainWriter } from './audit/chain-writer.ts';
import { ledgers } from './audit/ledgers.ts';
import type { ChainKeys } from './audit/mac.ts';
import { createCalls, type Calls } from './calls.ts';
import { lockChanges } from './change-lock.ts';
import { changesChannel, signalsChannel } from './channels.ts';
import { createConnections, type Connections } from './connections.ts';
import type { Database } from './database.ts';
import { createDocuments, type Documents } from './documents.ts';
import { createEndedSessions, type EndedSessions } from './ended-sessions.ts';
import { createEvents, insertEvent, type Events } from './events.ts';
import { createExclusively, type Exclusively } from './exclusively.ts';
import { createInFlight, type InFlight } from './in-flight.ts';
import { createGroups, type Groups } from './groups.ts';
import { createLoginGrants, type LoginGrants } from './login-grants.ts';
import { createLoginKeys, type LoginKeys } from './login-keys.ts';
import { createLoginRecords, type LoginRecords } from './login-records.ts';
import { nameConflicts } from './name-conflicts.ts';
import { createPolicies, type Policies } from './policies.ts';
import { createRefusals, type Refusals } from './refusals.ts';
import { createSecrets, type Secrets } from './secrets.ts';
import { createSources, type DefinitionOf, type Sources } from './sources.ts';
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
  readonly events: Events;
  readonly answers: Answers;
  readonly artifacts: Artifacts;
  readonly documents: Documents;
  readonly loginRecords: LoginRecords;
  readonly loginGrants: LoginGrants;
  readonly loginKeys: LoginKeys;
}

export type Change = Omit<ChangeEvent, 'id' | 'at' | 'client' | 'address' | 'actor_name'> &
  Partial<Pick<ChangeEvent, 'client' | 'address' | 'actor_name'>>;

export interface Store extends StoreNouns {
  /** Appended to, by each server in a chain of its own, and therefore never within a change. */
  readonly calls: Calls;
  readonly refusals: Refusals;
  /** [SEC-4] Notes of the calls that run at this moment. */
  readonly inFlight: InFlight;
  readonly endedSessions: EndedSessions;
  readonly audit: Audit;
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
  /** For work made of many changes, so that servers which begin the same work at once do not do it twice. */
  readonly exclusively: Exclusively;
}

/** PostgreSQL takes less than 8000 bytes in one notification. */
const largestSignal = 7900;

export interface StoreOptions {
  now?: () => number;
  /** [SEC-4] The keys that chain the record; without them it is kept without chains. */
  keys?: ChainKeys;
  /** Throws where a write would be lost. Called before a change, and again before it is acknowledged. */
  check?: (() => void) | undefined;
  /** What definitions of a type of source are read with; only what all have in common is checked where it is left out. */
  definitionOf?: DefinitionOf;
  /** Where calls are recorded first, if anywhere else than in the database. */
  journal?: StoreJournal;
}

interface StoreJournal extends AuditJournal {
  /** The last row that it has brought into the database. */
  readonly head: AuditHead | undefined;
}

export function createStore(database: Database, { now = Date.now, keys, check, definitionOf, journal }: StoreOptions = {}): Store {
  const nouns = (queries: Queries) => nounsOf(queries, definitionOf);
  const { kysely, dialect } = database;
  let seen: AuditHead | undefined;
  const calls = createChainWriter({ database, ledger: ledgers.calls, keys, now });
  const refusals = createChainWriter({ database, ledger: ledgers.refusals, keys, now });
  return {
    ...nouns(kysely),
    calls: createCalls(kysely, calls, async () => journal?.caughtUp()),
    refusals: createRefusals(kysely, refusals),
    inFlight: createInFlight(kysely),
    endedSessions: createEndedSessions(kysely, now),
    audit: createAudit({
      database,
      keys,
      own: () => [calls.last, refusals.last, seen, journal?.head].filter((head) => head !== undefined),
      journal,
    }),

    async change(change, mutate) {
      check?.();
      let written: AuditHead | undefined;
      const event = await nameConflicts(
        kysely.transaction().execute(async (transaction) => {
          await lockChanges(transaction, dialect);
          await mutate(nouns(transaction));
          const { kind, topic, subject, actor, client = null, address = null, actor_name = null, before, after } = change;
          const made = { at: now(), kind, topic, subject, actor, client, address, actor_name, before, after };
          const event = await insertEvent(transaction, made, async (row) => {
            if (keys !== undefined) written = await chainEvent(transaction, keys, row, seen);
          });
          if (dialect === 'postgres') await notify(transaction, changesChannel, { id: event.id, topic });
          return event;
        }),
      );
      seen = written;
      check?.();
      return event;
    },

    snapshot(read) {
      const transaction = kysely.transaction();
      // SQLite has no other isolation than this one.
      const isolated = dialect === 'postgres' ? transaction.setIsolationLevel('repeatable read').setAccessMode('read only') : transaction;
      return isolated.execute((reading) => read(nouns(reading)));
    },

    exclusively: createExclusively(database),

    async signal(name, payload) {
      if (dialect === 'postgres') await notify(kysely, signalsChannel, { name, payload });
    },
  };
}

function nounsOf(queries: Queries, definitionOf: DefinitionOf | undefined): StoreNouns {
  return {
    sources: createSources(queries, definitionOf),
    tools: createTools(queries),
    groups: createGroups(queries),
    policies: createPolicies(queries),
    secrets: createSecrets(queries),
    connections: createConnections(queries),
    events: createEvents(queries),
    answers: createAnswers(queries),
    artifacts: createArtifacts(queries),
    documents: createDocuments(queries),
    loginRecords: createLoginRecords(queries),
    loginGrants: createLoginGrants(queries),
    loginKeys: createLoginKeys(queries),
  };
}

async function notify(queries: Queries, channel: string, message: Json): Promise<void> {
  const text = JSON.stringify(message);
  if (Buffer.byteLength(text) > largestSignal)
    throw new CribError('PAYLOAD_TOO_LARGE', `A signal may have ${largestSignal} bytes. Send an id instead.`);
  await sql`select pg_notify(${channel}, ${text})`.execute(queries);
}
