import { sql } from 'kysely';
import type { DialectName } from './database.ts';
import type { Queries } from './tables.ts';

/** "crib" in ASCII: the lock under which changes get their ids, so that a reader who has seen one has seen all before it. */
const changeLock = 0x63726962;
/** A server that hangs in the middle of a change must not keep the others from theirs. */
const idleInChangeMs = 30_000;

/** One at a time, over all servers, until the transaction ends. SQLite has one writer anyway. */
export async function lockChanges(transaction: Queries, dialect: DialectName): Promise<void> {
  if (dialect === 'sqlite') return;
  await sql`select set_config('idle_in_transaction_session_timeout', ${String(idleInChangeMs)}, true)`.execute(transaction);
  await sql`select pg_advisory_xact_lock(${changeLock})`.execute(transaction);
}
