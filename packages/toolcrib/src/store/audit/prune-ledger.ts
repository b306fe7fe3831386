import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql, type RawBuilder } from 'kysely';
import type { Queries } from '../tables.ts';
import { chainsWithRows } from './chains-with-rows.ts';
import type { Ledger } from './ledgers.ts';
import { noteMac, type ChainKeys } from './mac.ts';

interface Pruning {
  queries: Queries;
  keys: ChainKeys | undefined;
  ledger: Ledger;
  beforeMs: number;
}

interface SeenRow {
  seq: number;
  mac: string;
  time: number;
}

/** Deleting is cut into pieces, so that calls are never kept waiting for the end of it. */
const rowsPerDelete = 1000;

/**
 * [OPS-3] Deletes older rows. A chain is cut from its beginning only, up to the first row that is young enough: a call that took long
 * stays until those that ended before it have gone.
 */
export async function pruneLedger({ queries, keys, ledger, beforeMs }: Pruning): Promise<number> {
  let deleted = 0;
  if (keys !== undefined) {
    for await (const chain of chainsWithRows(queries, ledger)) deleted += await pruneChain(queries, keys, ledger, chain, beforeMs);
  }
  return deleted + (await pruneUnchained(queries, ledger, beforeMs));
}

async function pruneChain(queries: Queries, keys: ChainKeys, ledger: Ledger, chain: number, beforeMs: number): Promise<number> {
  const table = sql.table(ledger.table);
  let deleted = 0;
  for (;;) {
    const oldest = sql<SeenRow>`
      select seq, mac, ${sql.ref(ledger.time)} as time from ${table} where chain = ${chain} order by seq limit ${rowsPerDelete}`;
    const { rows } = await oldest.execute(queries);
    const young = rows.findIndex(({ time }) => time >= beforeMs);
    const last = (young < 0 ? rows : rows.slice(0, young)).at(-1);
    if (last === undefined) return deleted;
    await queries.transaction().execute(async (transaction) => {
      const which = sql<boolean>`chain = ${chain} and seq <= ${last.seq}`;
      if (ledger.name === 'changes') await keepRevisions(transaction, which);
      const removed = await sql`delete from ${table} where ${which}`.execute(transaction);
      deleted += Number(removed.numAffectedRows ?? 0);
      await markPruned(transaction, keys, chain, last);
    });
    if (young >= 0 || rows.length < rowsPerDelete) return deleted;
    await nextTurn();
  }
}

/** Vouches for the deletion: without this mark a row that is not there was taken away. */
async function markPruned(transaction: Queries, keys: ChainKeys, chain: number, { seq, mac }: SeenRow): Promise<void> {
  const by = `${keys.newest.kid}.${noteMac(keys.newest.key, 'pruned', [chain, seq, mac])}`;
  await transaction
    .updateTable('chains')
    .set({ pruned_seq: seq, pruned_mac: mac, pruned_by: by })
    .where('id', '=', chain)
    // Another server may have come further in the meantime.
    .where('pruned_seq', '<', seq)
    .execute();
}

async function pruneUnchained(queries: Queries, { name, table, id, time }: Ledger, beforeMs: number): Promise<number> {
  const [rows, key] = [sql.table(table), sql.ref(id)];
  const old = sql`chain is null and ${sql.ref(time)} < ${beforeMs}`;
  const which = sql<boolean>`${key} in (select ${key} from ${rows} where ${old} order by ${key} limit ${rowsPerDelete})`;
  let deleted = 0;
  for (;;) {
    const { numAffectedRows = 0n } = await queries.transaction().execute(async (transaction) => {
      if (name === 'changes') await keepRevisions(transaction, which);
      return sql`delete from ${rows} where ${which}`.execute(transaction);
    });
    deleted += Number(numAffectedRows);
    if (numAffectedRows < rowsPerDelete) return deleted;
    await nextTurn();
  }
}

/** The id of the last change is the revision of its topic, which must not fall back when the change is deleted. */
async function keepRevisions(transaction: Queries, which: RawBuilder<boolean>): Promise<void> {
  const newest = transaction
    .selectFrom('events')
    .select((select) => ['topic' as const, select.fn.max('id').as('id')])
    .where(which)
    .groupBy('topic');
  for (const { topic, id } of await newest.execute()) {
    await transaction
      .insertInto('revisions')
      .values({ topic, id })
      .onConflict((conflict) => conflict.column('topic').doUpdateSet({ id }).where('revisions.id', '<', id))
      .execute();
  }
}
