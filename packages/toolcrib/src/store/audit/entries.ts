import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Queries } from '../tables.ts';
import type { StoredValue } from '../stored-values.ts';
import type { Ledger } from './ledgers.ts';

/** A row of the record, with its place in its chain. */
export type AuditEntry = Record<string, StoredValue>;

export interface EntryRange {
  /** Epoch milliseconds: from this one on, and up to but without that one. */
  from?: number;
  until?: number;
}

const pageRows = 500;

/** By id, which is in the order of time; a page at a time, so that neither memory nor the database is held by a long reading. */
export async function* readEntries(queries: Queries, ledger: Ledger, { from, until }: EntryRange): AsyncGenerator<AuditEntry[]> {
  const names = [...ledger.columns.map(([name]) => name), 'chain', 'seq', 'mac'];
  const columns = sql.join(names.map((name) => sql.ref(name)));
  const [id, time] = [sql.ref(ledger.id), sql.ref(ledger.time)];
  let after: StoredValue | undefined;
  for (;;) {
    const conditions = [
      ...(after === undefined ? [] : [sql`${id} > ${after}`]),
      ...(from === undefined ? [] : [sql`${time} >= ${from}`]),
      ...(until === undefined ? [] : [sql`${time} < ${until}`]),
    ];
    const where = conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`;
    const query = sql<AuditEntry>`select ${columns} from ${sql.table(ledger.table)} ${where} order by ${id} limit ${pageRows}`;
    const { rows } = await query.execute(queries);
    if (rows.length > 0) yield rows;
    if (rows.length < pageRows) return;
    after = rows.at(-1)?.[ledger.id];
    await nextTurn();
  }
}
