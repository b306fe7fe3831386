import type { Selectable } from 'kysely';
import type { AuditHead } from '../../model/audit.ts';
import type { Queries, Tables } from '../tables.ts';
import { storedValues } from '../stored-values.ts';
import { ledgers } from './ledgers.ts';
import { rowMac, type ChainKeys } from './mac.ts';
import { openChain } from './open-chain.ts';

const ledger = 'changes' as const;

/**
 * [SEC-4] Puts a change that was just written at the end of the one chain that all servers share, within its transaction, which holds the
 * change lock. With a new key a new chain begins. `seen` is what this server has written last, by which it notices when the end of the
 * chain was cut off behind its back.
 */
export async function chainEvent(
  transaction: Queries,
  keys: ChainKeys,
  row: Selectable<Tables['events']>,
  seen: AuditHead | undefined,
): Promise<AuditHead> {
  const last = (await lastLink(transaction, keys.newest.kid, seen)) ?? (await begin(transaction, keys, row.at));
  const link = { ledger: ledgers.changes, chain: last.chain, seq: last.seq + 1, previous: last.mac };
  const mac = rowMac(keys.newest.key, link, storedValues(ledgers.changes.columns, row));
  const { chain, seq } = link;
  await transaction.updateTable('events').set({ chain, seq, mac }).where('id', '=', row.id).execute();
  return { ledger, chain, seq, mac };
}

async function begin(transaction: Queries, keys: ChainKeys, at: number): Promise<AuditHead> {
  const { id, mac } = await openChain(transaction, keys, ledger, at);
  return { ledger, chain: id, seq: 0, mac };
}

/** Where the newest chain ends, if it is one of this key. */
async function lastLink(transaction: Queries, kid: string, seen: AuditHead | undefined): Promise<AuditHead | undefined> {
  const newest = transaction.selectFrom('chains').selectAll().where('ledger', '=', ledger).orderBy('id', 'desc').limit(1);
  const chain = await newest.executeTakeFirst();
  if (chain === undefined || chain.kid !== kid) return undefined;
  const rows = transaction.selectFrom('events').select(['seq', 'mac']).where('chain', '=', chain.id);
  const row = await rows.orderBy('seq', 'desc').limit(1).executeTakeFirst();
  // Retention may have deleted all there was.
  const left = { ledger, chain: chain.id, seq: chain.pruned_seq, mac: chain.pruned_seq > 0 ? chain.pruned_mac : chain.mac };
  const found = row === undefined ? left : { ledger, chain: chain.id, seq: row.seq ?? 0, mac: row.mac ?? '' };
  // Going on from the row that this server has seen leaves a gap where somebody has cut the chain.
  return seen?.chain === found.chain && seen.seq > found.seq ? seen : found;
}
