import type { KeyObject } from 'node:crypto';
import type { StoredValue } from '../stored-values.ts';
import { hmac } from './hmac.ts';
import type { Ledger } from './ledgers.ts';

/** The keys that macs are made with. The newest makes them; the older ones check the macs they made before. */
export interface ChainKeys {
  readonly newest: { readonly kid: string; readonly key: KeyObject };
  find(kid: string): KeyObject | undefined;
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
export function rowMac(key: KeyObject, { ledger, chain, seq, previous }: Link, values: readonly StoredValue[]): string {
  return hmac(key, `${ledger.name}:${chain}:${seq}:${previous}${JSON.stringify(covered(ledger, values))}`);
}

/** Without the columns that were added later and are null. */
function covered({ firstColumns }: Ledger, values: readonly StoredValue[]): readonly StoredValue[] {
  let length = values.length;
  while (length > firstColumns && values[length - 1] === null) length -= 1;
  return length === values.length ? values : values.slice(0, length);
}

/** Of a note, which is not a row: it begins with no ledger's name, so neither can stand for the other. */
export function noteMac(key: KeyObject, purpose: 'chain' | 'pruned' | 'journal' | 'imported', values: readonly StoredValue[]): string {
  return hmac(key, `${purpose}${JSON.stringify(values)}`);
}
