import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** [SEC-4] Where a change was made from. */
export const changeAddresses: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema.alterTable('events').addColumn('address', 'text').execute();
  },
};
