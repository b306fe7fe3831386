import { sql } from 'kysely';
import type { Queries } from '../tables.ts';
import type { Ledger } from './ledgers.ts';

/** The chains that rows of a ledger name, whether they are listed or not: one step in the index for each. */
export async function* chainsWithRows(queries: Queries, { table }: Ledger): AsyncGenerator<number> {
  let after = -1;
  for (;;) {
    const query = sql<{ chain: number | null }>`select min(chain) as chain from ${sql.table(table)} where chain > ${after}`;
    const chain = (await query.execute(queries)).rows[0]?.chain ?? null;
    if (chain === null) return;
    yield chain;
    after = chain;
  }
}
