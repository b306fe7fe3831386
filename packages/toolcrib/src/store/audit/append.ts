import { sql } from 'kysely';
import { lockChanges } from '../change-lock.ts';
import type { Database } from '../database.ts';
import { createChainWriter, type ChainWriter } from './chain-writer.ts';
import { insertIntoPostgres } from './insert-into-postgres.ts';
import { insertIntoSqlite } from './insert-into-sqlite.ts';
import type { Ledger } from './ledgers.ts';
import type { ChainKeys } from './mac.ts';
import { openChain } from './open-chain.ts';

interface AppendInput {
  database: Database;
  ledger: Ledger;
  keys: ChainKeys | undefined;
  now(): number;
}

/**
 * Writes rows in one commit, in this server's chain of the ledger. What is there already is left as it is, so a batch whose outcome was
 * lost with the connection can be sent again.
 */
export function createAppend({ database, ledger, keys, now }: AppendInput): ChainWriter {
  const { kysely, dialect } = database;
  const open = (chainKeys: ChainKeys) =>
    kysely.transaction().execute(async (transaction) => {
      await lockChanges(transaction, dialect);
      return openChain(transaction, chainKeys, ledger.name, now());
    });
  const writer = createChainWriter({
    ledger,
    keys,
    open,
    insert: dialect === 'sqlite' ? insertIntoSqlite(database.connection, kysely, ledger) : insertIntoPostgres(kysely, ledger),
  });

  async function known(ids: unknown[]): Promise<Set<unknown>> {
    const query = sql<{ id: string }>`
      select ${sql.ref(ledger.id)} as id from ${sql.table(ledger.table)} where ${sql.ref(ledger.id)} in (${sql.join(ids)})`;
    return new Set((await query.execute(kysely)).rows.map(({ id }) => id));
  }

  return {
    get last() {
      return writer.last;
    },
    async append(rows) {
      try {
        await writer.append(rows);
      } catch (error) {
        // A row's id is its first value. Looked for only now: it almost never happens, and looking costs more than writing.
        const there = await known(rows.map(([id]) => id)).catch(() => new Set());
        if (there.size === 0) throw error;
        const others = rows.filter(([id]) => !there.has(id));
        if (others.length > 0) await writer.append(others);
      }
    },
  };
}
