import type { CallRecord } from '../model/call.ts';
import type { ChainWriter } from './audit/chain-writer.ts';
import { ledgers } from './audit/ledgers.ts';
import { fitsFilter } from './call-filter.ts';
import { createEndedCalls } from './ended-calls.ts';
import { callColumns, findCalls, type CallPage, type FoundCalls } from './find-calls.ts';
import { storedValues } from './stored-values.ts';
import type { Queries } from './tables.ts';

export type Calls = ReturnType<typeof createCalls>;

/** `caughtUp` resolves when what was recorded so far is in the database. */
export function createCalls(queries: Queries, writer: ChainWriter, caughtUp: () => Promise<void>) {
  const ended = createEndedCalls(queries);

  /** Calls that are running on any server: their notes would become their records if nothing more were heard of them. */
  async function running({ before, limit: _limit, ...filter }: CallPage): Promise<CallRecord[]> {
    let query = queries.selectFrom('calls_in_flight').select('record').orderBy('call_id', 'desc');
    if (before !== undefined) query = query.where('call_id', '<', before);
    return (await query.execute()).flatMap(({ record }) => {
      // Notes of an earlier version lack the newest fields.
      const noted = JSON.parse(record) as Omit<CallRecord, 'user_name' | 'door' | 'agent'>;
      const call: CallRecord = {
        user_name: null,
        door: null,
        agent: null,
        ...noted,
        status: 'running',
        error_code: null,
        error_origin: null,
      };
      return fitsFilter(call, filter) ? [call] : [];
    });
  }

  return {
    /** Writes all of them in one commit and returns when they are durable. The caller collects what belongs together. */
    async append(records: readonly CallRecord[]): Promise<void> {
      if (records.length > 0) await writer.append(records.map(valuesOf));
    },

    async get(callId: string): Promise<CallRecord | undefined> {
      await caughtUp();
      return queries.selectFrom('calls').select(callColumns).where('call_id', '=', callId).executeTakeFirst();
    },

    /** A page, the newest first. Those that are being made are among them where that status is asked for. */
    async list(page: CallPage): Promise<FoundCalls> {
      const { statuses, limit } = page;
      // Before the others: what ends meanwhile is found there.
      const made = statuses?.includes('running') === true ? await running(page) : [];
      await caughtUp();
      if (statuses?.includes('running') !== true) return findCalls(queries, page);
      const others = statuses.filter((status) => status !== 'running');
      const { calls, next } = others.length === 0 ? { calls: [], next: null } : await findCalls(queries, { ...page, statuses: others });
      const known = new Set(calls.map(({ call_id }) => call_id));
      const added = made.filter(({ call_id }) => (next === null || call_id > next) && !known.has(call_id));
      const all = [...calls, ...added].toSorted((one, other) => (one.call_id < other.call_id ? 1 : -1));
      return all.length <= limit ? { calls: all, next } : { calls: all.slice(0, limit), next: all[limit - 1]?.call_id ?? null };
    },

    ended: {
      async position(): ReturnType<typeof ended.position> {
        await caughtUp();
        return ended.position();
      },
      async after(...from: Parameters<typeof ended.after>): ReturnType<typeof ended.after> {
        await caughtUp();
        return ended.after(...from);
      },
    },
  };
}

function valuesOf(record: CallRecord) {
  const { started_at, duration_us } = record;
  // Whole already, but for a caller of the library that measures more finely.
  if (Number.isInteger(started_at) && Number.isInteger(duration_us)) return storedValues(ledgers.calls.columns, record);
  return storedValues(ledgers.calls.columns, { ...record, started_at: Math.round(started_at), duration_us: Math.round(duration_us) });
}
