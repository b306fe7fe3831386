import type { Ledger, StoredValue } from './ledgers.ts';

/** The mac of a text under one key. */
export type Mac = (text: string) => string;

/** The keys that macs are made with. The newest makes them; the older ones check what they made before. */
export interface ChainKeys {
  readonly newest: string;
  find(kid: string): Mac | undefined;
}

/** Where a row stands. */
interface Link {
  ledger: Ledger;
  chain: number;
  seq: number;
  /** The mac of the row before; for the first one that of the chain itself. */
  previous: string;
}

/** The place, in which there is no bracket, and the values as a JSON list, so that no two rows are ever written alike. */
export function rowMac(mac: Mac, { ledger, chain, seq, previous }: Link, values: readonly StoredValue[]): string {
  return mac(`${ledger.name}:${chain}:${seq}:${previous}${JSON.stringify(covered(ledger, values))}`);
}

/** Without the columns that came later and say nothing. */
function covered({ firstColumns }: Ledger, values: readonly StoredValue[]): readonly StoredValue[] {
  let length = values.length;
  while (length > firstColumns && values[length - 1] === null) length -= 1;
  return length === values.length ? values : values.slice(0, length);
}

/** Of something that is no row: it begins with no ledger's name, so neither can stand for the other. */
export function noteMac(mac: Mac, purpose: 'chain' | 'pruned', values: readonly StoredValue[]): string {
  return mac(`${purpose}${JSON.stringify(values)}`);
}

/** The newest key, which makes what is written now. */
export function newestMac(keys: ChainKeys): Mac {
  const mac = keys.find(keys.newest);
  if (mac === undefined) throw new Error(`The audit key ${keys.newest} is not there`);
  return mac;
}
