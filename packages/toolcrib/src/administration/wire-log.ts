import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { WireLogs } from '../sources/mcp/wire-logs.ts';
import type { MakeChange } from './change-log.ts';

interface WireLogState {
  enabled: boolean;
  /** When it ends by itself, in epoch milliseconds. */
  until: number | null;
}

export interface WireLogAdministration {
  /** [OPS-1] Of the server that is asked alone: what others send is theirs to keep. */
  set(actor: Principal, sourceId: string, wanted: Wanted): Promise<WireLogState>;
}

interface Wanted {
  enabled: boolean;
  minutes: number;
}

/** Whoever has it sees what users send and get, so that it stands in the record who switched it on. */
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
    // Nobody sees anything before it is on record.
    if (after.until === null) wire.stop();
    else wire.start(after.until);
    return after;
  }

  return {
    set(actor, sourceId, wanted) {
      // One after another: it is switched only after it was recorded, and the next record says what it was switched to.
      const result = queue.then(() => set(actor, sourceId, wanted));
      queue = result.catch(() => undefined);
      return result;
    },
  };
}
