import type { AuditHead } from '../../model/audit.ts';
import type { Ledger, StoredValue } from './ledgers.ts';
import { newestMac, rowMac, type ChainKeys } from './mac.ts';
import type { OpenedChain } from './open-chain.ts';

/** The values of a row, then its chain, its place in it and its mac. */
export type InsertRows = (rows: readonly (readonly StoredValue[])[]) => Promise<void>;
export type AppendRows = (rows: readonly (readonly StoredValue[])[]) => Promise<void>;

export interface ChainWriter {
  append: AppendRows;
  /** The last row that was surely written. */
  readonly last: AuditHead | undefined;
}

interface ChainWriterInput {
  ledger: Ledger;
  /** Without keys rows are written without a chain. */
  keys: ChainKeys | undefined;
  open(keys: ChainKeys): Promise<OpenedChain>;
  insert: InsertRows;
}

/**
 * [SEC-4] Writes the rows of one server in one chain, batch after batch. The head is in memory and advances when a batch was written.
 * After a batch that failed nobody knows how far the chain has come, as its commit may have been lost on the way back: the next batch
 * begins a new chain, so the old one ends either way without a gap.
 */
export function createChainWriter({ ledger, keys, open, insert }: ChainWriterInput): ChainWriter {
  let head: { chain: OpenedChain; seq: number; mac: string } | undefined;
  let last: AuditHead | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  async function write(rows: readonly (readonly StoredValue[])[]): Promise<void> {
    if (keys === undefined) return insert(rows.map((values) => [...values, null, null, null]));
    const { chain, ...end } = head ?? begin(await open(keys));
    const make = newestMac(keys);
    let { seq, mac } = end;
    const chained = rows.map((values) => {
      seq += 1;
      mac = rowMac(make, { ledger, chain: chain.id, seq, previous: mac }, values);
      return [...values, chain.id, seq, mac];
    });
    head = undefined;
    await insert(chained);
    head = { chain, seq, mac };
    last = { ledger: ledger.name, chain: chain.id, seq, mac };
  }

  return {
    append(rows) {
      const written = turn.then(() => write(rows));
      turn = written.catch(() => undefined);
      return written;
    },
    get last() {
      return last;
    },
  };
}

function begin(chain: OpenedChain) {
  return { chain, seq: 0, mac: chain.mac };
}
