import type { Acceptance } from '../execution/acceptance.ts';
import type { Counter } from '../inventory/counter.ts';
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
 * Makes an administrative change: written with its record in one transaction, and in force before it is acknowledged. `mutate` reads what
 * is there in that same transaction, so that of two changes at once neither is lost and each is recorded with what it really replaced.
 */
export type MakeChange = <After>(actor: Principal, change: Change, mutate: Mutation<After>) => Promise<After>;
type Mutation<After> = (
  tx: StoreNouns,
) => Promise<{ before: unknown; after: After; /** Nothing was written: there is nothing to record. */ isSame?: boolean }>;

/** Ends a transaction in which there was nothing to do. */
class Unchanged extends Error {}

interface MakeChangeInput {
  store: Store;
  counter: Counter;
  acceptance: Acceptance;
}

export function createMakeChange({ store, counter, acceptance }: MakeChangeInput): MakeChange {
  return async <After>(actor: Principal, change: Change, mutate: Mutation<After>) => {
    if (acceptance.refusal !== undefined) throw acceptance.refusal;
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
    await counter.reload(new Set([change.topic]));
    return after as After;
  };
}
