import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Tables } from '../tables.ts';

/** The policies that development begins with were not marked as such before, and would go on granting where an issuer is configured. */
export const developmentPolicies: Migration = {
  async up(database: Kysely<Tables>) {
    await database
      .updateTable('policies')
      .set({ managed_by: 'development' })
      .where('id', 'in', ['users-use-builtin-tools', 'users-use-every-tool'])
      .where('description', 'like', 'Made for development%')
      .where('managed_by', 'is', null)
      .execute();
  },
};
