import type { Store } from '../store/store.ts';
import type { BridgeKeys } from './bridge-keys.ts';
import type { LoginGrants } from './login-grants.ts';

interface BridgeUpkeepInput {
  store: Store;
  keys: BridgeKeys;
  grants: Pick<LoginGrants, 'end'>;
  idleDays: number;
  now: () => number;
  onKeys(): void;
}

const dayMs = 86_400_000;
const atOnce = 500;

/** Deletes what is over, and makes a new signing key when it is time. Servers that do so together do not disturb each other. */
export async function bridgeUpkeep({ store, keys, grants, idleDays, now, onKeys }: BridgeUpkeepInput): Promise<void> {
  await store.loginRecords.deleteExpired(now());
  for (const { id } of await store.loginGrants.listExpired(now(), atOnce)) await grants.end(id, 'it has come to its end');
  // Used ones are checked with the provider all the time.
  const idleSince = now() - (idleDays + 1) * dayMs;
  for (const { id } of await store.loginGrants.listUnchecked(idleSince, atOnce))
    await grants.end(id, `it was not used for ${idleDays} days`);
  if (await keys.rotate()) onKeys();
}
