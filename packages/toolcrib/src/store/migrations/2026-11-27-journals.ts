import { sql, type CreateTableBuilder, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { DialectName } from '../database.ts';

/** [SEC-4] How far the journal of each server was brought into the database. */
export function journals(dialect: DialectName): Migration {
  const strict = <Table extends string>(table: CreateTableBuilder<Table>) => (dialect === 'sqlite' ? table.modifyEnd(sql`strict`) : table);
  const number = dialect === 'sqlite' ? 'integer' : 'bigint';
  return {
    async up({ schema }: Kysely<unknown>) {
      await strict(
        schema
          .createTable('journals')
          .addColumn('server', 'text', (column) => column.primaryKey())
          .addColumn('journal', 'text', (column) => column.notNull())
          .addColumn('segment', number, (column) => column.notNull())
          .addColumn('offset', number, (column) => column.notNull())
          .addColumn('entry', number, (column) => column.notNull())
          .addColumn('mac', 'text', (column) => column.notNull())
          .addColumn('noted_by', 'text', (column) => column.notNull()),
      ).execute();
    },
  };
}
