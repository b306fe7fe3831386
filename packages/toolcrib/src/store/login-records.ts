import type { Queries, Tables } from './tables.ts';

/** One record of the authorization server: a client, an interaction, a code, a refresh token. `id` is a hash where the id itself is a secret. */
export type LoginRecord = Tables['login_records'];

export type LoginRecords = ReturnType<typeof createLoginRecords>;

export function createLoginRecords(queries: Queries) {
  const at = (model: string, id: string) => queries.selectFrom('login_records').where('model', '=', model).where('id', '=', id);
  return {
    async get(model: string, id: string): Promise<LoginRecord | undefined> {
      return at(model, id).selectAll().executeTakeFirst();
    },

    async put(record: LoginRecord): Promise<void> {
      const { model: _model, id: _id, consumed_at: _consumed, ...changed } = record;
      const insert = queries.insertInto('login_records').values(record);
      await insert.onConflict((conflict) => conflict.columns(['model', 'id']).doUpdateSet(changed)).execute();
    },

    /** False where it was used before, or is gone: of any number of servers that try, one succeeds. */
    async consume(model: string, id: string, now: number): Promise<boolean> {
      const update = queries.updateTable('login_records').set({ consumed_at: now }).where('consumed_at', 'is', null);
      return (await update.where('model', '=', model).where('id', '=', id).executeTakeFirst()).numUpdatedRows > 0n;
    },

    /** Notes that a client was of use, and how long it is kept for that. */
    async use(model: string, id: string, { now, until }: { now: number; until: number }): Promise<void> {
      const used = { used_at: now, consumed_at: now, expires_at: until };
      await queries.updateTable('login_records').set(used).where('model', '=', model).where('id', '=', id).execute();
    },

    async delete(model: string, id: string): Promise<void> {
      await queries.deleteFrom('login_records').where('model', '=', model).where('id', '=', id).execute();
    },

    async deleteOfGrant(grantId: string): Promise<void> {
      await queries.deleteFrom('login_records').where('grant_id', '=', grantId).execute();
    },

    async deleteExpired(now: number): Promise<void> {
      await queries.deleteFrom('login_records').where('expires_at', '<', now).execute();
    },

    async count(model: string): Promise<number> {
      const { count } = await queries
        .selectFrom('login_records')
        .where('model', '=', model)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      return count;
    },

    /** Deletes those that never were of any use, then those that were of none for the longest time. */
    async evict(model: string, count: number): Promise<void> {
      const first = queries.selectFrom('login_records').select('id').where('model', '=', model);
      const least = first.orderBy(({ eb }) => eb.case().when('consumed_at', 'is', null).then(0).else(1).end()).orderBy('used_at');
      await queries.deleteFrom('login_records').where('model', '=', model).where('id', 'in', least.limit(count)).execute();
    },
  };
}
