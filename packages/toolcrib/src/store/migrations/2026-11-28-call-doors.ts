import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** [DOOR-3] Through which door a call came, and from what program. */
export const callDoors: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema.alterTable('calls').addColumn('door', 'text').execute();
    await schema.alterTable('calls').addColumn('agent', 'text').execute();
  },
};
