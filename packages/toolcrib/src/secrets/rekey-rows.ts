import { CribError } from '../model/crib-error.ts';
import type { Store, StoreNouns } from '../store/store.ts';
import type { KeyRing } from './key-ring.ts';
import { kidOf, seal } from './seal.ts';
import { sealedLogin } from './sealed-login.ts';
import { asSecretRow } from './sealed-connection.ts';
import { placeOf, tryOpen } from './stored-secret.ts';

export interface RekeyOptions {
  /** Deletes values that do not open; otherwise one of them stops the whole run. */
  deleteUnreadable?: boolean;
}

export interface RekeyOutcome {
  total: number;
  /** How many were sealed anew; the others were under the newest key already. */
  rewritten: number;
  /** Names of those that did not open. */
  deleted: string[];
}

interface Rekeying extends RekeyOptions {
  store: Store;
  keyRing: KeyRing;
  actor: string;
}

/** In one transaction: interrupted, it has done nothing, and the next time it does all of it. */
export async function rekeyRows({ store, keyRing, actor, deleteUnreadable = false }: Rekeying): Promise<RekeyOutcome> {
  const { kid: newest } = keyRing.newest;
  const outcome: RekeyOutcome = { total: 0, rewritten: 0, deleted: [] };
  const event = { kind: 'secrets-rekeyed', topic: 'secret', subject: newest, actor, before: null, after: { ...outcome } } as const;
  const current = await sealedRows(store);
  if (current.every(({ row }) => kidOf(row.sealed) === newest && tryOpen(keyRing, row) !== undefined)) {
    return { ...outcome, total: current.length };
  }
  await store.change(event, async (tx) => {
    for (const { row, write, remove } of await sealedRows(tx)) {
      outcome.total += 1;
      const value = tryOpen(keyRing, row);
      if (value === undefined) outcome.deleted.push(row.name);
      else if (kidOf(row.sealed) !== newest) {
        // The value stays the same, so the time of its last change does too.
        await write(seal(keyRing, value, placeOf(row)));
        outcome.rewritten += 1;
      }
      if (value === undefined && deleteUnreadable) await remove();
    }
    if (outcome.deleted.length > 0 && !deleteUnreadable) throw unreadable(keyRing, outcome.deleted);
    Object.assign(event.after, outcome);
  });
  return outcome;
}

/** Everything that is sealed: the secrets, what users have allowed us elsewhere, and what the login bridge keeps. */
async function sealedRows({ secrets, connections, loginGrants, loginKeys }: StoreNouns) {
  const ofSecrets = (await secrets.list()).map((row) => ({
    row,
    write: (sealed: string) => secrets.put({ ...row, sealed }),
    remove: () => secrets.delete(row.id),
  }));
  const ofConnections = (await connections.list()).map((connection) => ({
    row: asSecretRow(connection),
    write: async (sealed: string) => {
      if (await connections.update({ ...connection, sealed })) return;
      throw new CribError('CONFLICT', 'A connection was changed in the meantime. Nothing was resealed: run the command again.');
    },
    remove: () => connections.delete(connection.id),
  }));
  const ofGrants = (await loginGrants.list()).map((grant) => ({
    row: { ...sealedLogin.grant, id: grant.id, sealed: grant.sealed },
    write: async (sealed: string) => {
      if (await loginGrants.update({ ...grant, sealed })) return;
      throw new CribError('CONFLICT', 'A login was renewed in the meantime. Nothing was resealed: run the command again.');
    },
    remove: () => loginGrants.delete(grant.id),
  }));
  const ofKeys = (await loginKeys.list()).map((key) => ({
    row: { ...sealedLogin.key, id: key.id, sealed: key.sealed },
    write: (sealed: string) => loginKeys.put({ ...key, sealed }),
    remove: () => loginKeys.delete(key.id),
  }));
  return [...ofSecrets, ...ofConnections, ...ofGrants, ...ofKeys];
}

function unreadable(keyRing: KeyRing, names: readonly string[]): CribError {
  const shown = names.slice(0, 10).join(', ') + (names.length > 10 ? ', …' : '');
  return new CribError(
    'CONFLICT',
    `${names.length} of the secrets do not open with ${keyRing.origin}: ${shown}. Nothing was changed. Add the key they were sealed with, or pass --delete-unreadable to delete them.`,
  );
}
