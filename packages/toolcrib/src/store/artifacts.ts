import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Queries, Tables } from './tables.ts';

/** A part of an answer that was too large to be given, kept for its owner to fetch. */
export type ArtifactRow = Tables['artifacts'];

export type Artifacts = ReturnType<typeof createArtifacts>;

/** Deleting is cut into pieces, so that calls are never kept waiting for the end of it. */
const rowsPerDelete = 50;

export function createArtifacts(queries: Queries) {
  async function insert(queries: Queries, rows: readonly ArtifactRow[], mostBytes: number): Promise<void> {
    for (const row of rows) await queries.insertInto('artifacts').values(row).execute();
    // Counted from the newest back: what is beyond the bound is the oldest.
    await sql`delete from artifacts where (call_id, n) in (
      select call_id, n from (
        select call_id, n, sum(bytes) over (order by created_at desc, call_id desc, n desc) as total
        from artifacts where owner = ${rows[0]?.owner ?? ''}
      ) as counted where total > ${mostBytes})`.execute(queries);
  }

  return {
    /** All of one call, or none. Whatever its owner has beyond `mostBytes` afterwards is deleted, the oldest first. */
    async keep(rows: readonly ArtifactRow[], mostBytes: number): Promise<void> {
      if (queries.isTransaction) return insert(queries, rows, mostBytes);
      await queries.transaction().execute((transaction) => insert(transaction, rows, mostBytes));
    },

    async get(callId: string, n: number, owner: string): Promise<ArtifactRow | undefined> {
      const select = queries.selectFrom('artifacts').selectAll().where('call_id', '=', callId);
      return select.where('n', '=', n).where('owner', '=', owner).executeTakeFirst();
    },

    async deleteOlderThan(epochMs: number): Promise<number> {
      const oldest = queries.selectFrom('artifacts').select('call_id').where('created_at', '<', epochMs).limit(rowsPerDelete);
      let deleted = 0;
      for (;;) {
        const { numDeletedRows } = await queries.deleteFrom('artifacts').where('call_id', 'in', oldest).executeTakeFirst();
        deleted += Number(numDeletedRows);
        if (numDeletedRows === 0n) return deleted;
        await nextTurn();
      }
    },
  };
}
