import { sql } from 'kysely';
import type { AuditHead } from '../../model/audit.ts';
import { lockChanges } from '../change-lock.ts';
import type { Database } from '../database.ts';
import type { StoredValue } from '../stored-values.ts';
import { insertIntoPostgres } from './insert-into-postgres.ts';
import { insertIntoSqlite } from './insert-into-sqlite.ts';
import type { Ledger } from './ledgers.ts';
import { rowMac, type ChainKeys } from './mac.ts';
import { openChain, type OpenedChain } from './open-chain.ts';

export interface ChainWriter {
  /**
   * Writes rows in one commit, in this server's chain of the ledger. Rows that are there already are left as they are, so a batch whose
   * outcome was lost with the connection can be sent again.
   */
  append(rows: readonly (readonly StoredValue[])[]): Promise<void>;
  /** The last row that was surely written. */
  readonly last: AuditHead | undefined;
}

interface ChainWriterInput {
  database: Database;
  ledger: Ledger;
  /** Without keys rows are written without a chain. */
  keys: ChainKeys | undefined;
  now(): number;
}

/**
 * [SEC-4] Writes the rows of one server in one chain, batch after batch. The head is in memory and advances when a batch was written.
 * After a batch that failed nobody knows how far the chain has come, as its commit may have been lost on the way back: the next batch
 * begins a new chain, so the old one ends either way without a gap.
 */
export function createChainWriter({ database, ledger, keys, now }: ChainWriterInput): ChainWriter {
  const { kysely, dialect } = database;
  const insert = dialect === 'sqlite' ? insertIntoSqlite(database.connection, kysely, ledger) : insertIntoPostgres(kysely, ledger);
  let head: { chain: OpenedChain; seq: number; mac: string } | undefined;
  let last: AuditHead | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  async function begin(chainKeys: ChainKeys) {
    const chain = await kysely.transaction().execute(async (transaction) => {
      await lockChanges(transaction, dialect);
      return openChain(transaction, chainKeys, ledger.name, now());
    });
    return { chain, seq: 0, mac: chain.mac };
  }

  async function write(rows: readonly (readonly StoredValue[])[]): Promise<void> {
    if (keys === undefined) return insert(rows.map((values) => [...values, null, null, null]));
    const { chain, ...end } = head ?? (await begin(keys));
    let { seq, mac } = end;
    const chained = rows.map((values) => {
      seq += 1;
      mac = rowMac(keys.newest.key, { ledger, chain: chain.id, seq, previous: mac }, values);
      return [...values, chain.id, seq, mac];
    });
    head = undefined;
    await insert(chained);
    head = { chain, seq, mac };
    last = { ledger: ledger.name, chain: chain.id, seq, mac };
  }

  function writeInTurn(rows: readonly (readonly StoredValue[])[]): Promise<void> {
    const written = turn.then(() => write(rows));
    turn = written.catch(() => undefined);
    return written;
  }

  /** Which of these ids are in the table. */
  async function known(ids: unknown[]): Promise<Set<unknown>> {
    const query = sql<{ id: string }>`
      select ${sql.ref(ledger.id)} as id from ${sql.table(ledger.table)} where ${sql.ref(ledger.id)} in (${sql.join(ids)})`;
    return new Set((await query.execute(kysely)).rows.map(({ id }) => id));
  }

  return {
    async append(rows) {
      try {
        await writeInTurn(rows);
      } catch (error) {
        // A row's id is its first value. Looked for only now: it almost never happens, and looking costs more than writing.
        const there = await known(rows.map(([id]) => id)).catch(() => new Set());
        if (there.size === 0) throw error;
        const others = rows.filter(([id]) => !there.has(id));
        if (others.length > 0) await writeInTurn(others);
      }
    },
    get last() {
      return last;
    },
  };
}
