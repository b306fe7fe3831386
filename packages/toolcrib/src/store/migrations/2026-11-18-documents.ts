import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { DialectName } from '../database.ts';

/** [SRC-5] The document that describes a source: its text where it was pasted, and what is remembered of its last import. */
export function documents(dialect: DialectName): Migration {
  return {
    async up({ schema }: Kysely<unknown>) {
      const table = schema
        .createTable('documents')
        .addColumn('source_id', 'text', (column) => column.primaryKey().references('sources.id').onDelete('cascade'))
        .addColumn('sha256', 'text')
        .addColumn('origins', 'text')
        .addColumn('imported', 'text')
        .addColumn('updated_at', dialect === 'sqlite' ? 'integer' : 'bigint', (column) => column.notNull())
        // Last, because SQLite reads past a large value only when a column behind it is wanted.
        .addColumn('text', 'text');
      await (dialect === 'sqlite' ? table.modifyEnd(sql`strict`) : table).execute();
    },
  };
}
