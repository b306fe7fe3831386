import { sql, type CreateTableBuilder, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { DialectName } from '../database.ts';

type Schema = Kysely<unknown>['schema'];

export function first(dialect: DialectName): Migration {
  return {
    async up({ schema }: Kysely<unknown>) {
      await inventoryTables(schema, dialect);
      await accessTables(schema, dialect);
      await recordTables(schema, dialect);
      await answerTable(schema, dialect);
    },
  };
}

async function inventoryTables(schema: Schema, dialect: DialectName): Promise<void> {
  await table(schema, dialect, 'sources')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('namespace', 'text', (column) => column.notNull().unique())
    .addColumn('source_type', 'text', (column) => column.notNull())
    .addColumn('enabled', 'integer', (column) => column.notNull())
    .$call(withTimes(dialect))
    .execute();
  await table(schema, dialect, 'tools')
    .addColumn('tool_id', 'text', (column) => column.primaryKey())
    .addColumn('source_id', 'text', (column) => column.notNull().references('sources.id').onDelete('cascade'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('discovered', 'text', (column) => column.notNull())
    .addColumn('definition_hash', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('overrides', 'text', (column) => column.notNull())
    .$call(withTimes(dialect))
    .addUniqueConstraint('tools_source_id_name', ['source_id', 'name'])
    .execute();
}

async function accessTables(schema: Schema, dialect: DialectName): Promise<void> {
  await table(schema, dialect, 'groups')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('selectors', 'text', (column) => column.notNull())
    .addColumn('include', 'text', (column) => column.notNull())
    .addColumn('exclude', 'text', (column) => column.notNull())
    .$call(withTimes(dialect))
    .execute();
  await table(schema, dialect, 'policies')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('enabled', 'integer', (column) => column.notNull())
    .addColumn('matchers', 'text', (column) => column.notNull())
    .addColumn('groups', 'text', (column) => column.notNull())
    .$call(withTimes(dialect))
    .execute();
  await table(schema, dialect, 'secrets')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .$call(withTimes(dialect))
    .execute();
}

async function recordTables(schema: Schema, dialect: DialectName): Promise<void> {
  // Its only index is the primary key, because every further one would be paid for by every call. Ids sort by time, so the newest
  // calls and those past their retention are found by it.
  await table(schema, dialect, 'calls', 'without rowid')
    .addColumn('call_id', idType(dialect), (column) => column.primaryKey())
    .addColumn('started_at', timeType(dialect), (column) => column.notNull())
    .addColumn('duration_us', timeType(dialect), (column) => column.notNull())
    .addColumn('issuer', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('client', 'text')
    .addColumn('tool_id', 'text')
    .addColumn('tool', 'text', (column) => column.notNull())
    .addColumn('source_id', 'text')
    .addColumn('definition_hash', 'text')
    .addColumn('policies', 'text', (column) => column.notNull())
    .addColumn('policy_revision', timeType(dialect), (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('error_code', 'text')
    .execute();
  await table(schema, dialect, 'events')
    .addColumn('id', timeType(dialect), (column) =>
      // An id is never given twice, also after the newest events were deleted: others remember how far they have read.
      dialect === 'sqlite' ? column.primaryKey().autoIncrement() : column.primaryKey().generatedAlwaysAsIdentity(),
    )
    .addColumn('at', timeType(dialect), (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('topic', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('actor', 'text', (column) => column.notNull())
    .addColumn('before', 'text', (column) => column.notNull())
    .addColumn('after', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('events_topic_id').on('events').columns(['topic', 'id']).execute();
}

async function answerTable(schema: Schema, dialect: DialectName): Promise<void> {
  await table(schema, dialect, 'answers')
    .addColumn('call_id', idType(dialect), (column) => column.primaryKey())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('idempotency_key', 'text')
    .addColumn('request_hash', 'text')
    .addColumn('tool_id', 'text', (column) => column.notNull())
    .addColumn('tool', 'text', (column) => column.notNull())
    .addColumn('deadline_at', timeType(dialect), (column) => column.notNull())
    .addColumn('created_at', timeType(dialect), (column) => column.notNull())
    .addColumn('expires_at', timeType(dialect), (column) => column.notNull())
    // Last, because SQLite reads past a large value only when a column behind it is wanted.
    .addColumn('body', 'text')
    .execute();
  await schema
    .createIndex('answers_owner_idempotency_key')
    .on('answers')
    .columns(['owner', 'idempotency_key'])
    .unique()
    .where('idempotency_key', 'is not', null)
    .execute();
  await schema.createIndex('answers_running').on('answers').column('deadline_at').where(sql.ref('body'), 'is', null).execute();
  await schema.createIndex('answers_expires_at').on('answers').column('expires_at').execute();
}

function table(schema: Schema, dialect: DialectName, name: string, layout?: 'without rowid'): CreateTableBuilder<string> {
  const builder = schema.createTable(name);
  if (dialect === 'postgres') return builder;
  // Strict: SQLite checks the types of what is stored, as PostgreSQL does.
  return builder.modifyEnd(layout === undefined ? sql`strict` : sql`strict, without rowid`);
}

function timeType(dialect: DialectName): 'integer' | 'bigint' {
  return dialect === 'sqlite' ? 'integer' : 'bigint';
}

/** Ids are compared as bytes, in SQLite by default and in PostgreSQL by this collation, so that they sort by time everywhere. */
function idType(dialect: DialectName) {
  return dialect === 'sqlite' ? ('text' as const) : sql`text collate "C"`;
}

function withTimes(dialect: DialectName) {
  return <Columns extends string>(builder: CreateTableBuilder<string, Columns>) =>
    builder
      .addColumn('created_at', timeType(dialect), (column) => column.notNull())
      .addColumn('updated_at', timeType(dialect), (column) => column.notNull());
}
