import type { Acceptance } from '../execution/acceptance.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { changedBy, type ChangeTopic } from '../model/event.ts';
import type { Json } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { Store, StoreNouns } from '../store/store.ts';

interface Change {
  kind: string;
  topic: ChangeTopic;
  subject: string;
}

/**
 * Makes an administrative change. The change and its record are written in one transaction, and the change is in force before it is
 * acknowledged. `mutate` reads the current row in that transaction, so concurrent changes are not lost and each records what it replaced.
 */
export type MakeChange = <After>(actor: Principal, change: Change, mutate: Mutation<After>) => Promise<After>;
type Mutation<After> = (
  tx: StoreNouns,
) => Promise<{ before: unknown; after: After; /** True if nothing was written: there is nothing to record. */ isSame?: boolean }>;

/** Rolls back a transaction that had nothing to change. */
class Unchanged extends Error {}

interface MakeChangeInput {
  store: Store;
  inventory: Inventory;
  acceptance: Acceptance;
}

export function createMakeChange({ store, inventory, acceptance }: MakeChangeInput): MakeChange {
  return async <After>(actor: Principal, change: Change, mutate: Mutation<After>) => {
    const refusal = acceptance.refusal();
    if (refusal !== undefined) throw refusal;
    const recorded = { ...change, ...changedBy(actor), before: null as Json, after: null as Json };
    let after: After | undefined;
    try {
      await store.change(recorded, async (tx) => {
        const made = await mutate(tx);
        after = made.after;
        if (made.isSame === true) throw new Unchanged();
        recorded.before = made.before as Json;
        recorded.after = made.after as Json;
      });
    } catch (error) {
      if (error instanceof Unchanged) return after as After;
      throw error;
    }
    // [POL-5] The very next request is decided by the new rules.
    await inventory.reload(new Set([change.topic]));
    return after as After;
  };
}
