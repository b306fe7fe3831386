import { nameConflicts } from './name-conflicts.ts';
import type { Queries } from './tables.ts';

/** A secret as it rests: its value is sealed before it comes here and opened after it has left. */
export interface SecretRow {
  id: string;
  name: string;
  sealed: string;
  created_at: number;
  updated_at: number;
}

export type Secrets = ReturnType<typeof createSecrets>;

export function createSecrets(queries: Queries) {
  return {
    async list(): Promise<SecretRow[]> {
      return queries.selectFrom('secrets').selectAll().orderBy('name').execute();
    },

    async get(id: string): Promise<SecretRow | undefined> {
      return queries.selectFrom('secrets').selectAll().where('id', '=', id).executeTakeFirst();
    },

    /** Makes it or replaces it, by id; a name that another secret has is a `CONFLICT`. */
    async put({ id, name, sealed, created_at, updated_at }: SecretRow): Promise<void> {
      const insert = queries.insertInto('secrets').values({ id, name, sealed, created_at, updated_at });
      await nameConflicts(insert.onConflict((conflict) => conflict.column('id').doUpdateSet({ name, sealed, updated_at })).execute());
    },

    async delete(id: string): Promise<boolean> {
      const { numDeletedRows } = await queries.deleteFrom('secrets').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
