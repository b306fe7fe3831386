import type { CallRecord } from '../model/call.ts';
import type { Queries } from './tables.ts';

/** A call that was begun and has not ended. */
export interface CallInFlight {
  call_id: string;
  /** Which server makes it. */
  server: string;
  /** By then it has ended, one way or the other, if its server lives. */
  ends_by: number;
  /** Its record, if nothing more were ever heard of it. */
  record: CallRecord;
}

export type InFlight = ReturnType<typeof createInFlight>;

const mostAtOnce = 500;

/** [SEC-4] The calls that are being made, by all servers. Only those that take longer than a moment are noted here. */
export function createInFlight(queries: Queries) {
  const remove = (ids: readonly string[]) => queries.deleteFrom('calls_in_flight').where('call_id', 'in', ids).execute();
  return {
    async add(calls: readonly CallInFlight[]): Promise<void> {
      for (let start = 0; start < calls.length; start += mostAtOnce) {
        const rows = calls.slice(start, start + mostAtOnce).map(({ call_id, server, ends_by, record }) => ({
          call_id,
          server,
          ends_by,
          record: JSON.stringify(record),
        }));
        await queries
          .insertInto('calls_in_flight')
          .values(rows)
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }
    },

    async remove(ids: readonly string[]): Promise<void> {
      for (let start = 0; start < ids.length; start += mostAtOnce) await remove(ids.slice(start, start + mostAtOnce));
    },

    /** Calls that one server left behind, and calls of any server that should have ended by then. */
    async lost({ server, endedBefore }: { server?: string; endedBefore: number }): Promise<CallRecord[]> {
      const rows = await queries
        .selectFrom('calls_in_flight')
        .select('record')
        .where((where) => where.or([where('server', '=', server ?? ''), where('ends_by', '<', endedBefore)]))
        .orderBy('call_id')
        .execute();
      return rows.map(({ record }) => JSON.parse(record) as CallRecord);
    },
  };
}
