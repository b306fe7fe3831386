import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { DialectName } from '../database.ts';

/** [EXEC-7] What was too large for an answer, for its owner to fetch. */
export function storedArtifacts(dialect: DialectName): Migration {
  const whole = dialect === 'sqlite' ? 'integer' : 'bigint';
  return {
    async up({ schema }: Kysely<unknown>) {
      const table = schema
        .createTable('artifacts')
        .addColumn('call_id', 'text', (column) => column.notNull())
        .addColumn('n', 'integer', (column) => column.notNull())
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('type', 'text', (column) => column.notNull())
        .addColumn('mime_type', 'text', (column) => column.notNull())
        .addColumn('bytes', whole, (column) => column.notNull())
        .addColumn('created_at', whole, (column) => column.notNull())
        // Last, because SQLite reads past a large value only when a column behind it is wanted.
        .addColumn('data', dialect === 'sqlite' ? 'blob' : 'bytea', (column) => column.notNull())
        .addPrimaryKeyConstraint('artifacts_call_id_n', ['call_id', 'n']);
      await (dialect === 'sqlite' ? table.modifyEnd(sql`strict`) : table).execute();
      await schema.createIndex('artifacts_owner_created_at').on('artifacts').columns(['owner', 'created_at']).execute();
      await schema.createIndex('artifacts_created_at').on('artifacts').column('created_at').execute();
    },
  };
}
