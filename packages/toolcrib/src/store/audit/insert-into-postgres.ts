import { CompiledQuery } from 'kysely';
import type { Queries } from '../tables.ts';
import type { InsertRows, Ledger } from './ledgers.ts';

/** One text for batches of any size: the rows travel as one JSON parameter. */
export function insertIntoPostgres(queries: Queries, { table, columns }: Ledger): InsertRows {
  const all = [...columns, ['chain', 'integer'], ['seq', 'integer'], ['mac', 'text']] as const;
  const names = all.map(([name]) => `"${name}"`).join(', ');
  const values = all.map(([, type], index) => (type === 'text' ? `entry->>${index}` : `(entry->>${index})::bigint`)).join(', ');
  const insertSql = `insert into ${table} (${names}) select ${values} from jsonb_array_elements($1::jsonb) as rows (entry)`;
  return async (rows) => {
    await queries.executeQuery(CompiledQuery.raw(insertSql, [JSON.stringify(rows)]));
  };
}
