import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** How a source was registered, as JSON and without its secrets; null for those from before. */
export const registrations: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema.alterTable('sources').addColumn('registration', 'text').execute();
  },
};
