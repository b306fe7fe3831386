import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** [SRC-6] What was made from a configuration file, so that only this is deleted when it is no longer in it. */
export const managedByFile: Migration = {
  async up(database: Kysely<unknown>) {
    for (const table of ['sources', 'groups', 'policies'])
      await database.schema.alterTable(table).addColumn('managed_by', 'text').execute();
  },
};
