import { sql } from 'kysely';
import { CribError } from '../model/crib-error.ts';
import type { PostgresDatabase, SqliteDatabase } from './database.ts';
import type { Queries, Tables } from './tables.ts';

/** What the journal of a server says of its database stays with both. */
type CopiedTable = Exclude<keyof Tables, 'journals'>;

/** Every table that is copied, in this order: a row comes after the rows it refers to. */
const everyTable: Record<CopiedTable, true> = {
  sources: true,
  tools: true,
  groups: true,
  policies: true,
  secrets: true,
  connections: true,
  documents: true,
  chains: true,
  calls: true,
  events: true,
  refusals: true,
  revisions: true,
  calls_in_flight: true,
  ended_sessions: true,
  answers: true,
  artifacts: true,
  durable_jobs: true,
  durable_steps: true,
  login_records: true,
  login_grants: true,
  login_keys: true,
};
const tableNames = Object.keys(everyTable) as CopiedTable[];

/** One statement carries so much at most: well within its timeout, and within the 65,535 parameters that PostgreSQL takes. */
const batch = { rows: 500, bytes: 4_194_304 };

type Row = Record<string, string | number | null | Uint8Array>;
export type CopiedRows = Record<CopiedTable, number>;

/**
 * Copies all rows into an empty PostgreSQL database, in one transaction, and counts them on both sides before it is committed. On SQLite the
 * calls under way are noted without a server, because there is only one; `server` is who will look for them.
 */
export async function copyTables(from: SqliteDatabase, to: PostgresDatabase, { server }: { server: string }): Promise<CopiedRows> {
  return await to.kysely.transaction().execute(async (transaction) => {
    for (const table of tableNames) await refuseFilled(transaction, table);
    const copied = {} as CopiedRows;
    for (const table of tableNames) copied[table] = await copyTable(from, transaction, table);
    await transaction.updateTable('calls_in_flight').set({ server }).execute();
    await continueEventIds(from, transaction);
    for (const table of tableNames) {
      const written = await countRows(transaction, table);
      const there = await countRows(from.kysely, table);
      if (written !== there || written !== copied[table])
        throw new CribError('INTERNAL', `Of ${there} rows in ${table}, ${written} were copied. Nothing was kept: run the command again`);
    }
    return copied;
  });
}

async function refuseFilled(queries: Queries, table: CopiedTable): Promise<void> {
  if ((await countRows(queries, table)) > 0)
    throw new CribError(
      'CONFLICT',
      `The PostgreSQL database is not empty: there are rows in its table ${table}. Nothing was changed. Create a new database, and give its address`,
    );
}

async function copyTable({ connection }: SqliteDatabase, to: Queries, table: CopiedTable): Promise<number> {
  let rows: Row[] = [];
  let bytes = 0;
  let count = 0;
  const flush = async () => {
    if (rows.length > 0) await insertRows(to, table, rows);
    [rows, bytes] = [[], 0];
  };
  for (const row of connection.prepare(`select * from "${table}"`).iterate() as Iterable<Row>) {
    rows.push(row);
    count += 1;
    bytes += sizeOf(row);
    if (rows.length >= batch.rows || bytes >= batch.bytes) await flush();
  }
  await flush();
  return count;
}

async function insertRows(to: Queries, table: CopiedTable, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const names = sql.join(columns.map((column) => sql.ref(column)));
  const values = sql.join(rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`));
  // Ids that PostgreSQL would give itself are part of the record.
  await sql`insert into ${sql.table(table)} (${names}) overriding system value values ${values}`.execute(to);
}

/** An id is never given twice, also where the newest events were deleted. */
async function continueEventIds({ connection }: SqliteDatabase, to: Queries): Promise<void> {
  const last = connection.prepare(`select seq from sqlite_sequence where name = 'events'`).get() as { seq: number } | undefined;
  if (last !== undefined) await sql`select setval(pg_get_serial_sequence('events', 'id'), ${last.seq})`.execute(to);
}

async function countRows(queries: Queries, table: CopiedTable): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(queries);
  return rows[0]?.count ?? 0;
}

function sizeOf(row: Row): number {
  return Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'number' || value === null ? 8 : value.length), 0);
}
