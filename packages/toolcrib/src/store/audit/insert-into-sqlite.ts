import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Queries } from '../tables.ts';
import type { StoredValue } from '../stored-values.ts';
import type { InsertRows, Ledger } from './ledgers.ts';

/** How many rows one statement takes at most. There is one for every number up to here, prepared when it is first needed. */
const mostRows = 64;

/**
 * Writes on the connection itself, because building a query costs several times what SQLite needs to run it. The query builder's single
 * connection is held meanwhile, so the rows can never land inside a transaction that somebody else may roll back.
 */
export function insertIntoSqlite(connection: DatabaseSync, queries: Queries, ledger: Ledger): InsertRows {
  const insertAll = rowInserter(connection, ledger);

  function insertInTransaction(rows: readonly (readonly StoredValue[])[]): void {
    // One statement is a transaction of its own.
    if (rows.length <= mostRows) return insertAll(rows);
    connection.exec('begin immediate');
    try {
      insertAll(rows);
      connection.exec('commit');
    } catch (error) {
      // Some errors, such as a full disk, have rolled back already.
      if (connection.isTransaction) connection.exec('rollback');
      throw error;
    }
  }

  return (rows) => queries.getExecutor().provideConnection(async () => insertInTransaction(rows));
}

/** For those who hold the connection, and a transaction where there are many rows. */
export function rowInserter(connection: DatabaseSync, { table, columns }: Ledger): (rows: readonly (readonly StoredValue[])[]) => void {
  const names = [...columns.map(([name]) => name), 'chain', 'seq', 'mac'];
  const insertSql = `insert into ${table} (${names.map((name) => `"${name}"`).join(', ')})`;
  const rowSql = `(${names.map(() => '?').join(', ')})`;
  const statements = new Map<number, StatementSync>();
  const prepared = (rows: number) => {
    let statement = statements.get(rows);
    if (statement === undefined) {
      statement = connection.prepare(`${insertSql} values ${Array.from({ length: rows }, () => rowSql).join(', ')}`);
      statements.set(rows, statement);
    }
    return statement;
  };
  return (rows) => {
    for (let start = 0; start < rows.length; start += mostRows) {
      const some = rows.slice(start, start + mostRows);
      prepared(some.length).run(...some.flat());
    }
  };
}
