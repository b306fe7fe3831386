import type { CallRecord } from '../model/call.ts';
import type { Store } from '../store/store.ts';

interface LostCalls {
  store: Pick<Store, 'calls' | 'inFlight'>;
  /** A server that has just started, and makes none of the calls that are noted as its own. */
  server?: string;
  endedBefore: number;
}

/** [SEC-4] Records what servers were doing when they were killed: it may have taken effect, and nobody knows. */
export async function recordLostCalls({ store, ...which }: LostCalls): Promise<number> {
  const lost = await store.inFlight.lost(which);
  const unrecorded: CallRecord[] = [];
  for (const record of lost) if ((await store.calls.get(record.call_id)) === undefined) unrecorded.push(record);
  await store.calls.append(unrecorded);
  await store.inFlight.remove(lost.map(({ call_id }) => call_id));
  return unrecorded.length;
}
