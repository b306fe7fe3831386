import { sourceOwner } from '../model/connection.ts';
import { nameConflicts } from './name-conflicts.ts';
import type { Queries, Tables } from './tables.ts';

/** A connection as it is stored. Its tokens are sealed before they come here and opened after they have left. */
export type ConnectionRow = Tables['connections'];

interface ConnectedQuery {
  owner?: string | undefined;
  sourceId?: string | undefined;
  limit: number;
}

export type Connections = ReturnType<typeof createConnections>;

export function createConnections(queries: Queries) {
  const select = queries.selectFrom('connections').selectAll();
  return {
    async get(sourceId: string, owner: string): Promise<ConnectionRow | undefined> {
      return select.where('source_id', '=', sourceId).where('owner', '=', owner).executeTakeFirst();
    },

    async getByState(stateHash: string): Promise<ConnectionRow | undefined> {
      return select.where('state_hash', '=', stateHash).executeTakeFirst();
    },

    async list(): Promise<ConnectionRow[]> {
      return select.orderBy('id').execute();
    },

    async listOf(owner: string): Promise<ConnectionRow[]> {
      return select.where('owner', '=', owner).execute();
    },

    /** Those that are connected, the newest first; without what a source has for itself. */
    async listConnected({ owner, sourceId, limit }: ConnectedQuery): Promise<ConnectionRow[]> {
      const connected = select.where('connected_at', 'is not', null).where('owner', '!=', sourceOwner);
      const owned = owner === undefined ? connected : connected.where('owner', '=', owner);
      const found = sourceId === undefined ? owned : owned.where('source_id', '=', sourceId);
      return found.orderBy('connected_at', 'desc').orderBy('id').limit(limit).execute();
    },

    /** False where the owner has one for this source already. */
    async insert(row: ConnectionRow): Promise<boolean> {
      const statement = queries
        .insertInto('connections')
        .values(row)
        .onConflict((conflict) => conflict.columns(['source_id', 'owner']).doNothing());
      const { numInsertedOrUpdatedRows } = await nameConflicts(statement.executeTakeFirst());
      return numInsertedOrUpdatedRows === 1n;
    },

    /** Writes over the version that was read, or not at all: of two writers at once, the second has to read again. */
    async update(row: ConnectionRow): Promise<boolean> {
      const { id, version, source_id: _source, owner: _owner, created_at: _createdAt, ...changed } = row;
      const update = queries.updateTable('connections').set({ ...changed, version: version + 1 });
      const { numUpdatedRows } = await update.where('id', '=', id).where('version', '=', version).executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async delete(id: string): Promise<boolean> {
      const { numDeletedRows } = await queries.deleteFrom('connections').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
