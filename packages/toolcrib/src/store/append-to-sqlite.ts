import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { CallRecord } from '../model/call.ts';
import { plainText } from './plain-text.ts';
import type { Queries } from './tables.ts';

const insertSql = `insert into calls (call_id, started_at, duration_us, issuer, subject, client, tool_id, tool, source_id, definition_hash,
  policies, policy_revision, status, error_code)`;
const rowSql = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
/** How many rows one statement takes at most. There is one for every number up to here, prepared when it is first needed. */
const mostRows = 64;

/**
 * Writes on the connection itself, because building a query costs several times what SQLite needs to run it. The query builder's single
 * connection is held meanwhile, so the rows can never land inside a transaction that somebody else may roll back.
 */
export function appendToSqlite(connection: DatabaseSync, queries: Queries): (records: readonly CallRecord[]) => Promise<void> {
  const statements = new Map<number, StatementSync>();
  const prepared = (rows: number) => {
    let statement = statements.get(rows);
    if (statement === undefined) {
      statement = connection.prepare(`${insertSql} values ${Array.from({ length: rows }, () => rowSql).join(', ')} on conflict do nothing`);
      statements.set(rows, statement);
    }
    return statement;
  };

  function insertAll(records: readonly CallRecord[]): void {
    for (let start = 0; start < records.length; start += mostRows) {
      const rows = Math.min(mostRows, records.length - start);
      const values: SQLInputValue[] = [];
      for (let index = start; index < start + rows; index++) pushValues(values, records[index] as CallRecord);
      prepared(rows).run(...values);
    }
  }

  function insertInTransaction(records: readonly CallRecord[]): void {
    // One statement is a transaction of its own.
    if (records.length <= mostRows) return insertAll(records);
    connection.exec('begin immediate');
    try {
      insertAll(records);
      connection.exec('commit');
    } catch (error) {
      // Some errors, such as a full disk, have rolled back already.
      if (connection.isTransaction) connection.exec('rollback');
      throw error;
    }
  }

  const write = queries.isTransaction ? insertAll : insertInTransaction;
  return (records) => queries.getExecutor().provideConnection(async () => write(records));
}

function pushValues(values: SQLInputValue[], record: CallRecord): void {
  values.push(
    record.call_id,
    Math.round(record.started_at),
    Math.round(record.duration_us),
    plainText(record.issuer),
    plainText(record.subject),
    record.client === null ? null : plainText(record.client),
    record.tool_id,
    plainText(record.tool),
    record.source_id,
    record.definition_hash,
    record.policies,
    record.policy_revision,
    record.status,
    record.error_code,
  );
}
