import type { SecretRow } from '../store/secrets.ts';
import type { KeyRing } from './key-ring.ts';
import { kidOf, open, type SealedPlace } from './seal.ts';

/** A stored value is bound to its name too: were two names exchanged in the database, neither source would be given the other's secret. */
export function placeOf({ id, name }: Pick<SecretRow, 'id' | 'name'>): SealedPlace {
  return { id, field: name };
}

/** The value, or undefined where it does not open. */
export function tryOpen(keyRing: KeyRing, row: SecretRow): string | undefined {
  try {
    return open(keyRing, row.sealed, placeOf(row));
  } catch {
    return undefined;
  }
}

/** Ids of keys that something is sealed with and that the ring lacks. */
export function unknownKids(keyRing: KeyRing, rows: readonly SecretRow[]): string[] {
  const kids = rows.map((row) => kidOf(row.sealed)).filter((kid) => kid !== undefined);
  return [...new Set(kids)].filter((kid) => keyRing.find(kid) === undefined);
}

/**
 * Which keys are not this ring's, and which rows are merely damaged. A key of the ring that opens none of what bears its id is not the
 * key it was sealed with: somebody has given two keys one id.
 */
export function foreignRows(keyRing: KeyRing, rows: readonly SecretRow[]): { foreign: string[]; damaged: SecretRow[] } {
  const working = new Set<string | undefined>();
  const shut = rows.filter((row) => {
    const opens = tryOpen(keyRing, row) !== undefined;
    if (opens) working.add(kidOf(row.sealed));
    return !opens;
  });
  const foreign = new Set(shut.map((row) => kidOf(row.sealed)).filter((kid) => kid !== undefined && !working.has(kid)));
  return { foreign: [...foreign] as string[], damaged: shut.filter((row) => !foreign.has(kidOf(row.sealed))) };
}

export function describeForeign(keyRing: KeyRing, kids: readonly string[]): string {
  return [
    `The stored secrets are sealed with a key this server does not have (${kids.join(', ')}); ${keyRing.origin} has ${keyRing.kids.join(', ')}.`,
    'Nothing was changed. Give every server of this database the same keys in TOOLCRIB_KEYS.',
    'If the key is lost, `toolcrib secrets rekey --delete-unreadable` deletes what it sealed.',
  ].join(' ');
}
