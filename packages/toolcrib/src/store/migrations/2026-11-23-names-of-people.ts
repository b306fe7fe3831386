import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** [SEC-4] What people call those whom the record is about. */
export const namesOfPeople: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema.alterTable('calls').addColumn('user_name', 'text').execute();
    await schema.alterTable('events').addColumn('actor_name', 'text').execute();
    await schema.alterTable('refusals').addColumn('user_name', 'text').execute();
  },
};
