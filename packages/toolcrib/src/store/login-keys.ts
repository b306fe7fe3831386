import type { Queries, Tables } from './tables.ts';

/** A key with which the login bridge signs, sealed. */
export type LoginKeyRow = Tables['login_keys'];

export type LoginKeys = ReturnType<typeof createLoginKeys>;

export function createLoginKeys(queries: Queries) {
  return {
    /** The newest first. */
    async list(): Promise<LoginKeyRow[]> {
      return queries.selectFrom('login_keys').selectAll().orderBy('created_at', 'desc').orderBy('id').execute();
    },

    async put(row: LoginKeyRow): Promise<void> {
      const insert = queries.insertInto('login_keys').values(row);
      await insert.onConflict((conflict) => conflict.column('id').doUpdateSet({ sealed: row.sealed })).execute();
    },

    async delete(id: string): Promise<void> {
      await queries.deleteFrom('login_keys').where('id', '=', id).execute();
    },
  };
}
