import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** [BFF-6] Finds what did not complete among many that did. Nearly no call pays for it, and those that do add to its end. */
export const callsThatFailed: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema
      .createIndex('calls_not_completed')
      .on('calls')
      .column('call_id')
      .where(sql<boolean>`status <> 'completed'`)
      .execute();
  },
};
