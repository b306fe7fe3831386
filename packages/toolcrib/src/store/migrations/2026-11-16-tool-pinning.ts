import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * [INV-3] The hash of the definition that was approved, and that definition where it is another than the one that was found last. What was
 * in use before anything was pinned counts as approved.
 */
export const toolPinning: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema.alterTable('tools').addColumn('approved_hash', 'text').execute();
    await database.schema.alterTable('tools').addColumn('approved', 'text').execute();
    await sql`update tools set approved_hash = definition_hash`.execute(database);
  },
};
