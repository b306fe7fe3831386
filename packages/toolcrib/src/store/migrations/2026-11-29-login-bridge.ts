import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { DialectName } from '../database.ts';

/** [LOGIN-3] [LOGIN-4] What the login bridge keeps: its own records, the tokens of the company's provider, and its signing keys. */
export function loginBridge(dialect: DialectName): Migration {
  const time = dialect === 'sqlite' ? ('integer' as const) : ('bigint' as const);
  return {
    async up({ schema }: Kysely<unknown>) {
      const table = (name: string) => {
        const builder = schema.createTable(name);
        return dialect === 'sqlite' ? builder.modifyEnd(sql`strict`) : builder;
      };
      await table('login_records')
        .addColumn('model', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('payload', 'text', (column) => column.notNull())
        .addColumn('grant_id', 'text')
        .addColumn('consumed_at', time)
        .addColumn('used_at', time, (column) => column.notNull())
        .addColumn('expires_at', time)
        .addPrimaryKeyConstraint('login_records_key', ['model', 'id'])
        .execute();
      await schema.createIndex('login_records_grant').on('login_records').column('grant_id').execute();
      await schema.createIndex('login_records_end').on('login_records').column('expires_at').execute();
      await table('login_grants')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('session', 'text')
        .addColumn('client', 'text', (column) => column.notNull())
        .addColumn('version', time, (column) => column.notNull())
        .addColumn('locked_until', time, (column) => column.notNull())
        .addColumn('checked_at', time, (column) => column.notNull())
        .addColumn('created_at', time, (column) => column.notNull())
        .addColumn('expires_at', time, (column) => column.notNull())
        .addColumn('sealed', 'text', (column) => column.notNull())
        .execute();
      await schema.createIndex('login_grants_owner').on('login_grants').column('owner').execute();
      await table('login_keys')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('created_at', time, (column) => column.notNull())
        .addColumn('sealed', 'text', (column) => column.notNull())
        .execute();
    },
  };
}
