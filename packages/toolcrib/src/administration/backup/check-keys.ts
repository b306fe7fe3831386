import type { AuditHead, AuditVerdict } from '../../model/audit.ts';
import { CribError } from '../../model/crib-error.ts';
import { createAuditKeys } from '../../secrets/audit-keys.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { createSecretStore } from '../../secrets/secret-store.ts';
import type { Database } from '../../store/database.ts';
import { createStore } from '../../store/store.ts';

/** Throws if the keys do not belong to the database; else verifies the audit record. */
export async function checkKeys(
  database: Database,
  keyRing: KeyRing,
  { expected = [], warn }: { expected?: readonly AuditHead[]; warn(message: string): void },
): Promise<AuditVerdict> {
  const store = createStore(database, { keys: createAuditKeys(keyRing) });
  await createSecretStore({ store, keyRing }).verify({ warn });
  const kid = await store.audit.newestKid();
  if (kid !== undefined && keyRing.find(kid) === undefined) {
    const message = `The audit record was last written with the key ${kid}, but ${keyRing.origin} has only ${keyRing.kids.join(', ')}. Nothing was changed. Give the keys that belong to this database`;
    throw new CribError('CONFLICT', message);
  }
  return store.audit.verify(expected);
}
