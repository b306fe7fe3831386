import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallRecord, CallStatus } from '../model/call.ts';
import type { Database } from './database.ts';
import { appendToPostgres } from './append-to-postgres.ts';
import { appendToSqlite } from './append-to-sqlite.ts';
import type { Queries } from './tables.ts';

export interface CallPage {
  /** Only calls that began before this one. */
  before?: string;
  limit: number;
  subject?: string;
  tool?: string;
  status?: CallStatus;
  issuer?: string;
}

/** Deleting is cut into pieces, so that calls are never kept waiting for the end of it. */
const rowsPerDelete = 1000;

export type Calls = ReturnType<typeof createCalls>;

export function createCalls(database: Database, queries: Queries) {
  const append = database.dialect === 'sqlite' ? appendToSqlite(database.connection, queries) : appendToPostgres(queries);
  return {
    /**
     * Writes all of them in one commit and returns when they are durable. The caller collects what belongs together. A record that is
     * there already is left as it is, so a batch whose outcome was lost with the connection can be sent again.
     */
    async append(records: readonly CallRecord[]): Promise<void> {
      if (records.length > 0) await append(records);
    },

    async get(callId: string): Promise<CallRecord | undefined> {
      return queries.selectFrom('calls').selectAll().where('call_id', '=', callId).executeTakeFirst();
    },

    /** The newest first. */
    async list({ before, limit, subject, tool, status, issuer }: CallPage): Promise<CallRecord[]> {
      let query = queries.selectFrom('calls').selectAll().orderBy('call_id', 'desc').limit(limit);
      if (before !== undefined) query = query.where('call_id', '<', before);
      if (subject !== undefined) query = query.where('subject', '=', subject);
      if (tool !== undefined) query = query.where('tool', '=', tool);
      if (status !== undefined) query = query.where('status', '=', status);
      if (issuer !== undefined) query = query.where('issuer', '=', issuer);
      return query.execute();
    },

    async deleteOlderThan(epochMs: number): Promise<number> {
      const oldest = queries
        .selectFrom('calls')
        .select('call_id')
        .where('call_id', '<', firstIdOf(epochMs))
        .orderBy('call_id')
        .limit(rowsPerDelete);
      let deleted = 0;
      for (;;) {
        const { numDeletedRows } = await queries.deleteFrom('calls').where('call_id', 'in', oldest).executeTakeFirst();
        deleted += Number(numDeletedRows);
        if (numDeletedRows < rowsPerDelete) return deleted;
        await nextTurn();
      }
    },
  };
}

/** The smallest UUIDv7 of a millisecond. RFC 9562 §5.7: the time is its first 48 bits. */
function firstIdOf(epochMs: number): string {
  const time = Math.max(0, Math.floor(epochMs)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}
