import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { DialectName } from '../database.ts';

/**
 * [SEC-4] Chains the rows of the record, so that none can be changed or removed unnoticed. What is there already stays outside of them.
 * Every ledger gets one more index, which every row pays for, because a chain has to be read in its own order.
 */
export function auditChains(dialect: DialectName): Migration {
  const whole = dialect === 'sqlite' ? ('integer' as const) : ('bigint' as const);
  const idType = dialect === 'sqlite' ? ('text' as const) : sql`text collate "C"`;
  return {
    async up({ schema }: Kysely<unknown>) {
      const chains = schema
        .createTable('chains')
        .addColumn('id', whole, (column) => column.primaryKey())
        .addColumn('ledger', 'text', (column) => column.notNull())
        .addColumn('kid', 'text', (column) => column.notNull())
        .addColumn('opened_at', whole, (column) => column.notNull())
        .addColumn('heads', 'text', (column) => column.notNull())
        .addColumn('mac', 'text', (column) => column.notNull())
        .addColumn('pruned_seq', whole, (column) => column.notNull())
        .addColumn('pruned_mac', 'text', (column) => column.notNull())
        .addColumn('pruned_by', 'text', (column) => column.notNull());
      await (dialect === 'sqlite' ? chains.modifyEnd(sql`strict`) : chains).execute();

      const refusals = schema
        .createTable('refusals')
        .addColumn('id', idType, (column) => column.primaryKey())
        .addColumn('at', whole, (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('code', 'text', (column) => column.notNull())
        .addColumn('reason', 'text', (column) => column.notNull())
        .addColumn('issuer', 'text')
        .addColumn('subject', 'text')
        .addColumn('client', 'text')
        .addColumn('address', 'text')
        .addColumn('method', 'text')
        .addColumn('route', 'text')
        .addColumn('request_id', 'text')
        .addColumn('count', whole, (column) => column.notNull());
      await (dialect === 'sqlite' ? refusals.modifyEnd(sql`strict, without rowid`) : refusals).execute();

      const revisions = schema
        .createTable('revisions')
        .addColumn('topic', 'text', (column) => column.primaryKey())
        .addColumn('id', whole, (column) => column.notNull());
      await (dialect === 'sqlite' ? revisions.modifyEnd(sql`strict`) : revisions).execute();

      await schema.alterTable('events').addColumn('client', 'text').execute();
      for (const table of ['calls', 'events', 'refusals']) {
        await schema.alterTable(table).addColumn('chain', whole).execute();
        await schema.alterTable(table).addColumn('seq', whole).execute();
        await schema.alterTable(table).addColumn('mac', 'text').execute();
        await schema.createIndex(`${table}_chain_seq`).on(table).columns(['chain', 'seq']).unique().execute();
      }
    },
  };
}
