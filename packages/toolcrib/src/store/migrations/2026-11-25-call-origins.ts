import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** [SEC-4] Whose failure a failed call was. */
export const callOrigins: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema.alterTable('calls').addColumn('error_origin', 'text').execute();
  },
};
