import type { Principal } from '../model/principal.ts';
import type { SecretStore, SecretSummary } from '../secrets/secret-store.ts';

/** Values go in and never come out. */
export interface SecretAdministration {
  list(): Promise<SecretSummary[]>;
  set(actor: Principal, name: string, value: string): Promise<{ secret: SecretSummary; created: boolean }>;
  delete(actor: Principal, name: string): Promise<void>;
}

/** `changed` is told after every change, by whoever keeps what was filled in with a secret. */
export function createSecretAdministration({ secrets, changed }: { secrets: SecretStore; changed(): void }): SecretAdministration {
  return {
    list: () => secrets.list(),
    set: (actor, name, value) => secrets.put(name, value, { actor: actor.key }).finally(changed),
    delete: (actor, name) => secrets.delete(name, { actor: actor.key }).finally(changed),
  };
}
