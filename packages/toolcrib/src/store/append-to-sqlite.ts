import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CallRecord } from '../model/call.ts';
import { plainText } from './plain-text.ts';
import type { Queries } from './tables.ts';

const insertSql = `insert into calls (call_id, started_at, duration_us, issuer, subject, client, tool_id, tool, source_id, definition_hash,
  policies, policy_revision, status, error_code) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;

/**
 * Writes on the connection itself, because building a query costs several times what SQLite needs to run it. The query builder's single
 * connection is held meanwhile, so the rows can never land inside a transaction that somebody else may roll back.
 */
export function appendToSqlite(connection: DatabaseSync, queries: Queries): (records: readonly CallRecord[]) => Promise<void> {
  let insert: StatementSync | undefined;

  function insertAll(records: readonly CallRecord[]): void {
    insert ??= connection.prepare(insertSql);
    for (const record of records) {
      insert.run(
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
  }

  function insertInTransaction(records: readonly CallRecord[]): void {
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
