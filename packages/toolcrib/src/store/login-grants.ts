import type { Queries, Tables } from './tables.ts';

/** Somebody's consent to one client, with the tokens of the company's provider that stand behind it. They are sealed before they come here. */
export type LoginGrantRow = Tables['login_grants'];

export type LoginGrants = ReturnType<typeof createLoginGrants>;

export function createLoginGrants(queries: Queries) {
  const select = queries.selectFrom('login_grants').selectAll();
  return {
    async get(id: string): Promise<LoginGrantRow | undefined> {
      return select.where('id', '=', id).executeTakeFirst();
    },

    async list(): Promise<LoginGrantRow[]> {
      return select.orderBy('id').execute();
    },

    /** Those of one person, or of one session that the person has at the provider. */
    async listOf({ owner, session }: { owner?: string; session?: string }): Promise<LoginGrantRow[]> {
      let found = select;
      if (owner !== undefined) found = found.where('owner', '=', owner);
      if (session !== undefined) found = found.where('session', '=', session);
      return owner === undefined && session === undefined ? [] : found.execute();
    },

    async insert(row: LoginGrantRow): Promise<void> {
      await queries.insertInto('login_grants').values(row).execute();
    },

    /** Writes over the version that was read, or not at all. */
    async update(row: LoginGrantRow): Promise<boolean> {
      const { id, version, owner: _owner, client: _client, created_at: _createdAt, ...changed } = row;
      const update = queries.updateTable('login_grants').set({ ...changed, version: version + 1 });
      return (await update.where('id', '=', id).where('version', '=', version).executeTakeFirst()).numUpdatedRows > 0n;
    },

    async delete(id: string): Promise<boolean> {
      return (await queries.deleteFrom('login_grants').where('id', '=', id).executeTakeFirst()).numDeletedRows > 0n;
    },

    /** Those that nobody has used since. */
    async listUnchecked(since: number, limit: number): Promise<LoginGrantRow[]> {
      return select.where('checked_at', '<', since).limit(limit).execute();
    },

    async listExpired(now: number, limit: number): Promise<LoginGrantRow[]> {
      return select.where('expires_at', '<', now).limit(limit).execute();
    },
  };
}
