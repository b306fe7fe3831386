import { createSecretStore, type SecretStore } from '../../src/secrets/secret-store.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { createStore } from '../../src/store/store.ts';
import { sampleKeyRing } from './key-rings.ts';

/** A real store with these secrets in it, on a database in memory. */
export async function openSecrets(stored: Record<string, string>): Promise<SecretStore & AsyncDisposable> {
  const database = await openDatabase({ file: ':memory:' });
  const secrets = createSecretStore({ store: createStore(database), keyRing: sampleKeyRing('k1') });
  for (const [name, value] of Object.entries(stored)) await secrets.put(name, value);
  return { ...secrets, [Symbol.asyncDispose]: () => database.close() };
}
