import { CribError } from '../model/crib-error.ts';
import { changedBy } from '../model/event.ts';
import type { Principal } from '../model/principal.ts';
import type { SecretStore, SecretSummary } from '../secrets/secret-store.ts';
import { namesSecret } from '../sources/registration/names-secret.ts';
import type { StoreNouns } from '../store/store.ts';

/** Values go in and never come out. */
export interface SecretAdministration {
  list(): Promise<SecretSummary[]>;
  set(actor: Principal, name: string, value: string): Promise<{ secret: SecretSummary; created: boolean }>;
  /** `CONFLICT` where sources need it, unless it is forced: they could not be started any more. */
  delete(actor: Principal, name: string, options?: { force?: boolean }): Promise<void>;
}

interface SecretAdministrationInput {
  secrets: SecretStore;
  /** Told after every change, for whoever keeps what was filled in with a secret. */
  changed(): void;
}

export function createSecretAdministration({ secrets, changed }: SecretAdministrationInput): SecretAdministration {
  return {
    list: () => secrets.list(),
    set: (actor, name, value) => secrets.put(name, value, changedBy(actor)).finally(changed),
    async delete(actor, name, { force = false } = {}) {
      const check = force ? undefined : (tx: StoreNouns) => refuseNeeded(tx, name);
      await secrets.delete(name, changedBy(actor), check).finally(changed);
    },
  };
}

/** By the sources there are at that moment, on whatever server they were registered. */
async function refuseNeeded({ sources }: StoreNouns, secret: string): Promise<void> {
  const users = (await sources.list())
    .filter(({ id, definition }) => definition !== null && namesSecret({ id, definition }, secret))
    .map(({ namespace }) => namespace);
  if (users.length === 0) return;
  const which = users.length === 1 ? `The source ${users[0]} needs` : `The sources ${users.join(', ')} need`;
  throw new CribError('CONFLICT', `${which} this secret: change that first, or delete it anyway with force`);
}
