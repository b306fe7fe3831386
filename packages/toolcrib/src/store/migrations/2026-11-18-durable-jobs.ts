import { sql, type CreateTableBuilder, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { DialectName } from '../database.ts';

/** [OPS-2] Calls that go on after a crash, and the steps they have done, both sealed. On PostgreSQL the engine there keeps its own. */
export function durableJobs(dialect: DialectName): Migration {
  const strict = <Table extends string>(table: CreateTableBuilder<Table>) => (dialect === 'sqlite' ? table.modifyEnd(sql`strict`) : table);
  return {
    async up({ schema }: Kysely<unknown>) {
      await strict(
        schema
          .createTable('durable_jobs')
          .addColumn('id', 'text', (column) => column.primaryKey())
          .addColumn('attempts', 'integer', (column) => column.notNull())
          .addColumn('input', 'text', (column) => column.notNull()),
      ).execute();
      await strict(
        schema
          .createTable('durable_steps')
          .addColumn('job_id', 'text', (column) => column.notNull().references('durable_jobs.id').onDelete('cascade'))
          .addColumn('name', 'text', (column) => column.notNull())
          .addColumn('result', 'text', (column) => column.notNull())
          .addPrimaryKeyConstraint('durable_steps_job_id_name', ['job_id', 'name']),
      ).execute();
    },
  };
}
