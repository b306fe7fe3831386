import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Queries, Tables } from './tables.ts';
import { trimKept } from './trim-kept.ts';

/** A part of an answer that was too large to be given, kept for its owner to fetch. */
export type ArtifactRow = Tables['artifacts'];

export type Artifacts = ReturnType<typeof createArtifacts>;

/** Deleting is cut into pieces, so that calls are never kept waiting for the end of it. */
const rowsPerDelete = 50;

export function createArtifacts(queries: Queries) {
  async function insert(queries: Queries, rows: readonly ArtifactRow[], mostBytes: number): Promise<void> {
    for (const row of rows) await queries.insertInto('artifacts').values(row).execute();
    await trimKept(queries, rows[0]?.owner ?? '', mostBytes);
  }

  return {
    /** Stores all of one call, or none. Then deletes the oldest of its owner, kept answers included, until they fit into `mostBytes`. */
    async keep(rows: readonly ArtifactRow[], mostBytes: number): Promise<void> {
      if (queries.isTransaction) return insert(queries, rows, mostBytes);
      await queries.transaction().execute((transaction) => insert(transaction, rows, mostBytes));
    },

    async get(callId: string, n: number, owner: string): Promise<ArtifactRow | undefined> {
      const select = queries.selectFrom('artifacts').selectAll().where('call_id', '=', callId);
      return select.where('n', '=', n).where('owner', '=', owner).executeTakeFirst();
    },

    /** Some of those that were kept before there were seals. */
    async listUnsealed(limit: number): Promise<ArtifactRow[]> {
      return queries.selectFrom('artifacts').selectAll().where('sealed', '=', 0).limit(limit).execute();
    },

    /** Does nothing where another server has been at it. */
    async putSealed({ call_id, n }: Pick<ArtifactRow, 'call_id' | 'n'>, data: Uint8Array): Promise<void> {
      const update = queries.updateTable('artifacts').set({ data, sealed: 1 }).where('call_id', '=', call_id);
      await update.where('n', '=', n).where('sealed', '=', 0).execute();
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
