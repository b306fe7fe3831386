import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { DialectName } from '../database.ts';

/** [MCP-12] What somebody has allowed us at the authorization server of a source: one for each source and owner, sealed. */
export function userConnections(dialect: DialectName): Migration {
  const time = dialect === 'sqlite' ? ('integer' as const) : ('bigint' as const);
  return {
    async up({ schema }: Kysely<unknown>) {
      const builder = schema.createTable('connections');
      await (dialect === 'sqlite' ? builder.modifyEnd(sql`strict`) : builder)
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('source_id', 'text', (column) => column.notNull().references('sources.id').onDelete('cascade'))
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('version', time, (column) => column.notNull())
        .addColumn('locked_until', time, (column) => column.notNull())
        .addColumn('state_hash', 'text', (column) => column.unique())
        .addColumn('state_expires_at', time)
        .addColumn('connected_at', time)
        .addColumn('created_at', time, (column) => column.notNull())
        .addColumn('updated_at', time, (column) => column.notNull())
        .addColumn('sealed', 'text', (column) => column.notNull())
        .addUniqueConstraint('connections_source_id_owner', ['source_id', 'owner'])
        .execute();
      await schema.createIndex('connections_owner').on('connections').column('owner').execute();
    },
  };
}
