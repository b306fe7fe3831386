import type { ConnectionRow } from '../store/connections.ts';
import type { SecretRow } from '../store/secrets.ts';
import type { KeyRing } from './key-ring.ts';
import { open, seal } from './seal.ts';
import { placeOf } from './stored-secret.ts';

type Place = Pick<ConnectionRow, 'id' | 'source_id' | 'owner'>;

/** A connection seen as the secret it is. Bound to its source and owner too: exchanged in the database, nobody is given another's tokens. */
export function asSecretRow(row: ConnectionRow): SecretRow {
  const { id, sealed, created_at, updated_at } = row;
  return { id, name: nameOf(row), sealed, created_at, updated_at };
}

export function sealConnection(keyRing: KeyRing, content: string, row: Place): string {
  return seal(keyRing, content, placeOf({ id: row.id, name: nameOf(row) }));
}

export function openConnection(keyRing: KeyRing, row: Place & { sealed: string }): string {
  return open(keyRing, row.sealed, placeOf({ id: row.id, name: nameOf(row) }));
}

/** No secret has a name with spaces in it. */
function nameOf({ source_id, owner }: Pick<ConnectionRow, 'source_id' | 'owner'>): string {
  return `connection ${source_id} ${owner}`;
}
