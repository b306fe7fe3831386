import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { WireLogs } from '../sources/upstream/logs/wire-logs.ts';
import type { MakeChange } from './change-log.ts';

interface WireLogState {
  enabled: boolean;
  /** When logging ends by itself, in epoch milliseconds. */
  until: number | null;
}

export interface WireLogAdministration {
  /** [OPS-1] Only on this server: other servers on the same database keep their own wire logs. */
  set(actor: Principal, sourceId: string, wanted: Wanted): Promise<WireLogState>;
}

interface Wanted {
  enabled: boolean;
  minutes: number;
}

/** A wire log shows what users send and receive, so switching it on is recorded. */
export function createWireLogAdministration(input: { wireLogs: WireLogs; change: MakeChange }): WireLogAdministration {
  const { wireLogs, change } = input;
  let queue: Promise<unknown> = Promise.resolve();

  async function set(actor: Principal, sourceId: string, { enabled, minutes }: Wanted): Promise<WireLogState> {
    const wire = wireLogs.of(sourceId);
    const kind = enabled ? 'wire-log-enabled' : 'wire-log-disabled';
    const after: WireLogState = { enabled, until: enabled ? Date.now() + minutes * 60_000 : null };
    await change(actor, { kind, topic: 'source', subject: sourceId }, async (tx) => {
      if ((await tx.sources.get(sourceId)) === undefined) throw new CribError('NOT_FOUND', 'There is no such source');
      return { before: { enabled: wire.on, until: wire.until }, after };
    });
    // Switched only after the change is recorded.
    if (after.until === null) wire.stop();
    else wire.start(after.until);
    return after;
  }

  return {
    set(actor, sourceId, wanted) {
      // One after another, so that `before` in the next record is the state that this change switched to.
      const result = queue.then(() => set(actor, sourceId, wanted));
      queue = result.catch(() => undefined);
      return result;
    },
  };
}
