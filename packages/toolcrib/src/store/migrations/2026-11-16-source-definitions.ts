import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** How to reach a source, as JSON; null for what comes with Toolcrib itself. */
export const sourceDefinitions: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema
      .alterTable('sources')
      .addColumn('definition', 'text', (column) => column.notNull().defaultTo('null'))
      .execute();
  },
};
