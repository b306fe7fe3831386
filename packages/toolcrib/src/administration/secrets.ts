import { CribError } from '../model/crib-error.ts';
import { changedBy } from '../model/event.ts';
import type { Principal } from '../model/principal.ts';
import type { SecretStore, SecretSummary } from '../secrets/secret-store.ts';
import { namesSecret } from '../sources/registration/names-secret.ts';
import type { StoreNouns } from '../store/store.ts';

/** Values go in and never come out. */
export interface SecretAdministration {
  list(): Promise<SecretSummary[]>;
  set(actor: Principal, name: string, value: string): Promise<{ secret: SecretSummary; created: boolean; kept_by: string[] }>;
  /** `CONFLICT` where sources need it, unless it is forced: they could not be started any more. */
  delete(actor: Principal, name: string, options?: { force?: boolean }): Promise<void>;
}

interface SecretAdministrationInput {
  secrets: SecretStore;
  /** Told after every change, for whoever keeps what was filled in with a secret; resolves when nothing begins with the old value any more. */
  changed(): Promise<void>;
  /** [ENV-1] The namespaces of sources that run here with another value of this secret. */
  keptBy(name: string): string[];
}

export function createSecretAdministration({ secrets, changed, keptBy }: SecretAdministrationInput): SecretAdministration {
  /** Whether it succeeds or not: it may have been written, and its answer lost. */
  async function making<Result>(change: Promise<Result>): Promise<Result> {
    try {
      return await change;
    } finally {
      await changed();
    }
  }

  return {
    list: () => secrets.list(),
    async set(actor, name, value) {
      const outcome = await making(secrets.put(name, value, changedBy(actor)));
      return { ...outcome, kept_by: keptBy(name) };
    },
    async delete(actor, name, { force = false } = {}) {
      const check = force ? undefined : (tx: StoreNouns) => refuseNeeded(tx, name);
      await making(secrets.delete(name, changedBy(actor), check));
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
