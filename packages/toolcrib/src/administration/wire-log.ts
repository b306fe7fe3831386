import type { Counter } from '../inventory/counter.ts';
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
  set(actor: Principal, sourceId: string, wanted: { enabled: boolean; minutes: number }): Promise<WireLogState>;
}

/** Whoever has it sees what users send and get, so that it stands in the record who switched it on. */
export function createWireLogAdministration(input: { wireLogs: WireLogs; counter: Counter; change: MakeChange }): WireLogAdministration {
  const { wireLogs, counter, change } = input;
  return {
    async set(actor, sourceId, { enabled, minutes }) {
      const wire = wireLogs.of(sourceId);
      const kind = enabled ? 'wire-log-enabled' : 'wire-log-disabled';
      const after: WireLogState = { enabled, until: enabled ? Date.now() + minutes * 60_000 : null };
      await change(actor, { kind, topic: 'source', subject: sourceId }, async () => {
        if (!counter.sources.has(sourceId)) throw new CribError('NOT_FOUND', 'There is no such source');
        return { before: { enabled: wire.on, until: wire.until }, after };
      });
      // Nobody sees anything before it is on record.
      if (after.until === null) wire.stop();
      else wire.start(after.until);
      return after;
    },
  };
}
