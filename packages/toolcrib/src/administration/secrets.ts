import { CribError } from '../model/crib-error.ts';
import { changedBy } from '../model/event.ts';
import type { Principal } from '../model/principal.ts';
import { isDefined } from '../model/source.ts';
import type { SecretStore, SecretSummary } from '../secrets/secret-store.ts';
import { namesSecret } from '../sources/source-registrations.ts';
import type { StoreNouns } from '../store/store.ts';

/** Secret values can be set but never read. */
export interface SecretAdministration {
  list(): Promise<SecretSummary[]>;
  set(actor: Principal, name: string, value: string): Promise<{ secret: SecretSummary; created: boolean; kept_by: string[] }>;
  /** Throws `CONFLICT` if sources need the secret, unless forced: they could no longer be started. */
  delete(actor: Principal, name: string, options?: { force?: boolean }): Promise<void>;
}

interface SecretAdministrationInput {
  secrets: SecretStore;
  /** Called after every change, so that cached values are dropped; resolves when no call can begin with the old value any more. */
  changed(): Promise<void>;
  /** [ENV-1] The namespaces of sources that run here with an outdated value of this secret. */
  keptBy(name: string): string[];
}

export function createSecretAdministration({ secrets, changed, keptBy }: SecretAdministrationInput): SecretAdministration {
  /** Calls `changed` after a failure too: the secret may have been written and only the response lost. */
  async function notifying<Result>(change: Promise<Result>): Promise<Result> {
    try {
      return await change;
    } finally {
      await changed();
    }
  }

  return {
    list: () => secrets.list(),
    async set(actor, name, value) {
      const outcome = await notifying(secrets.put(name, value, changedBy(actor)));
      return { ...outcome, kept_by: keptBy(name) };
    },
    async delete(actor, name, { force = false } = {}) {
      const check = force ? undefined : (tx: StoreNouns) => refuseNeeded(tx, name);
      await notifying(secrets.delete(name, changedBy(actor), check));
    },
  };
}

/** Reads the sources within the transaction, so that sources just registered on another server count too. */
async function refuseNeeded({ sources }: StoreNouns, secret: string): Promise<void> {
  const users = (await sources.list())
    .filter((source) => isDefined(source) && namesSecret(source, secret))
    .map(({ namespace }) => namespace);
  if (users.length === 0) return;
  const which = users.length === 1 ? `The source ${users[0]} needs` : `The sources ${users.join(', ')} need`;
  throw new CribError('CONFLICT', `${which} this secret: change the registration first, or delete the secret anyway with force`);
}
