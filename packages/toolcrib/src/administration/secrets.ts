import type { Counter } from '../inventory/counter.ts';
import { CribError } from '../model/crib-error.ts';
import { changedBy } from '../model/event.ts';
import type { Principal } from '../model/principal.ts';
import type { SecretStore, SecretSummary } from '../secrets/secret-store.ts';
import { namesSecret } from '../sources/registration/names-secret.ts';

/** Values go in and never come out. */
export interface SecretAdministration {
  list(): Promise<SecretSummary[]>;
  set(actor: Principal, name: string, value: string): Promise<{ secret: SecretSummary; created: boolean }>;
  /** `CONFLICT` where sources need it, unless it is forced: they could not be started any more. */
  delete(actor: Principal, name: string, options?: { force?: boolean }): Promise<void>;
}

interface SecretAdministrationInput {
  secrets: SecretStore;
  counter: Counter;
  /** Told after every change, for whoever keeps what was filled in with a secret. */
  changed(): void;
}

export function createSecretAdministration({ secrets, counter, changed }: SecretAdministrationInput): SecretAdministration {
  function usersOf(secret: string): string[] {
    return [...counter.sources.values()]
      .filter(({ id, definition }) => definition !== null && namesSecret({ id, definition }, secret))
      .map(({ namespace }) => namespace);
  }

  return {
    list: () => secrets.list(),
    set: (actor, name, value) => secrets.put(name, value, changedBy(actor)).finally(changed),
    async delete(actor, name, { force = false } = {}) {
      const users = force ? [] : usersOf(name);
      if (users.length > 0) {
        const which = users.length === 1 ? `The source ${users[0]} needs` : `The sources ${users.join(', ')} need`;
        throw new CribError('CONFLICT', `${which} this secret: change that first, or delete it all the same with force`);
      }
      await secrets.delete(name, changedBy(actor)).finally(changed);
    },
  };
}
