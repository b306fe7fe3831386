import { sql } from 'kysely';
import { auditLedgers, formatHead, type AuditHead, type AuditLedger } from '../../model/audit.ts';
import type { Queries } from '../tables.ts';
import { ledgers } from './ledgers.ts';
import { noteMac, type ChainKeys } from './mac.ts';

/** One chain as it was opened; `mac` also stands in front of its first row. */
export interface OpenedChain {
  id: number;
  mac: string;
}

/** Of how many chains of every ledger the head is noted: those of other servers may still grow. */
const notedChains = 10;

/**
 * Adds a chain to the list of all, within a transaction that holds the change lock. The list is a chain itself, and every entry says how
 * far the chains before it had come: neither a whole chain nor the end of an earlier one can vanish unnoticed.
 */
export async function openChain(transaction: Queries, keys: ChainKeys, ledger: AuditLedger, now: number): Promise<OpenedChain> {
  const { kid, key } = keys.newest;
  const recent = transaction.selectFrom('chains').select(['id', 'mac', 'heads']).orderBy('id', 'desc');
  const entries = await recent.limit(notedChains * auditLedgers.length).execute();
  const [last] = entries;
  const id = (last?.id ?? 0) + 1;
  // Heads in an earlier entry are not repeated.
  const noted = new Set(entries.flatMap((entry) => entry.heads.split(' ')));
  const heads = (await latestHeads(transaction))
    .map(formatHead)
    .filter((head) => !noted.has(head))
    .join(' ');
  const mac = noteMac(key, 'chain', [id, ledger, kid, now, heads, last?.mac ?? '']);
  await transaction
    .insertInto('chains')
    .values({ id, ledger, kid, opened_at: now, heads, mac, pruned_seq: 0, pruned_mac: '', pruned_by: '' })
    .execute();
  return { id, mac };
}

/** Of the newest chains, those that have rows. */
export async function latestHeads(queries: Queries): Promise<AuditHead[]> {
  const heads: AuditHead[] = [];
  for (const ledger of auditLedgers) {
    const ofLedger = queries.selectFrom('chains').select('id').where('ledger', '=', ledger);
    for (const { id } of await ofLedger.orderBy('id', 'desc').limit(notedChains).execute()) {
      const head = await headOf(queries, ledger, id);
      if (head !== undefined) heads.push(head);
    }
  }
  return heads;
}

async function headOf(queries: Queries, ledger: AuditLedger, chain: number): Promise<AuditHead | undefined> {
  const query = sql<{ seq: number; mac: string }>`
    select seq, mac from ${sql.table(ledgers[ledger].table)} where chain = ${chain} order by seq desc limit 1`;
  const [row] = (await query.execute(queries)).rows;
  return row && { ledger, chain, seq: row.seq, mac: row.mac };
}
