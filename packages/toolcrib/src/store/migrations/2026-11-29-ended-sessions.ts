import { sql, type CreateTableBuilder, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { DialectName } from '../database.ts';

/** [DOOR-4] Sessions of MCP clients that have ended, until their ids are too old to be used anyway. */
export function endedSessions(dialect: DialectName): Migration {
  const strict = <Table extends string>(table: CreateTableBuilder<Table>) => (dialect === 'sqlite' ? table.modifyEnd(sql`strict`) : table);
  const time = dialect === 'sqlite' ? 'integer' : 'bigint';
  return {
    async up({ schema }: Kysely<unknown>) {
      await strict(
        schema
          .createTable('ended_sessions')
          .addColumn('session', 'text', (column) => column.primaryKey())
          .addColumn('until', time, (column) => column.notNull()),
      ).execute();
    },
  };
}
