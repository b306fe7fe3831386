import { sql, type CreateTableBuilder, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { DialectName } from '../database.ts';

/** [SEC-4] What a server was doing, so that one that is killed leaves a trace of it. */
export function callsInFlight(dialect: DialectName): Migration {
  const strict = <Table extends string>(table: CreateTableBuilder<Table>) => (dialect === 'sqlite' ? table.modifyEnd(sql`strict`) : table);
  const time = dialect === 'sqlite' ? 'integer' : 'bigint';
  return {
    async up({ schema }: Kysely<unknown>) {
      await strict(
        schema
          .createTable('calls_in_flight')
          .addColumn('call_id', 'text', (column) => column.primaryKey())
          .addColumn('server', 'text', (column) => column.notNull())
          .addColumn('ends_by', time, (column) => column.notNull())
          .addColumn('record', 'text', (column) => column.notNull()),
      ).execute();
    },
  };
}
