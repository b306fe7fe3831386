import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** [EXEC-9] Whether a kept call was begun, so that one that never was is not mistaken for one that may have taken effect. */
export const begunAnswers: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema
      .alterTable('answers')
      .addColumn('begun', 'integer', (column) => column.notNull().defaultTo(1))
      .execute();
  },
};
