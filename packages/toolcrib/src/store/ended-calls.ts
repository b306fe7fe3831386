import { sql, type RawBuilder } from 'kysely';
import type { CallRecord } from '../model/call.ts';
import { ledgers } from './audit/ledgers.ts';
import type { Queries } from './tables.ts';

/** How far somebody has read: the last place in each chain that may still grow. */
export type EndedPosition = ReadonlyMap<number, number>;

/** Every start of a server begins a chain, and so does every write that failed: more than these do not grow at once. */
const newestChains = 50;

/**
 * The calls in the order in which they ended, for those who follow them. Ids are in the order in which calls began; what was written since
 * one last looked is known by its place in the chain of its server.
 */
export function createEndedCalls(queries: Queries) {
  async function chains(): Promise<number[]> {
    const query = queries.selectFrom('chains').select('id').where('ledger', '=', 'calls');
    return (await query.orderBy('id', 'desc').limit(newestChains).execute()).map(({ id }) => id);
  }

  return {
    /** Where everything that was written so far has been read. */
    async position(): Promise<EndedPosition> {
      const position = new Map<number, number>();
      for (const chain of await chains()) {
        const query = queries.selectFrom('calls').select('seq').where('chain', '=', chain).orderBy('seq', 'desc').limit(1);
        position.set(chain, (await query.executeTakeFirst())?.seq ?? 0);
      }
      return position;
    },

    /** At most so many of those that have ended since, and how far one has read with them. */
    async after(position: EndedPosition, limit: number): Promise<{ calls: CallRecord[]; position: EndedPosition }> {
      const newest = Math.max(0, ...position.keys());
      const places = (await chains()).flatMap((chain): [number, number][] => {
        const seq = position.get(chain) ?? (chain > newest ? 0 : undefined);
        return seq === undefined ? [] : [[chain, seq]];
      });
      if (places.length === 0) return { calls: [], position };
      const since = places.map(([chain, seq]): RawBuilder<unknown> => sql`(chain = ${chain} and seq > ${seq})`);
      const columns = sql.join(ledgers.calls.columns.map(([name]) => sql.ref(name)));
      const query = sql<CallRecord & { chain: number; seq: number }>`
        select ${columns}, chain, seq from calls where ${sql.join(since, sql` or `)} order by chain, seq limit ${limit}`;
      const { rows } = await query.execute(queries);
      const read = new Map(places);
      const calls = rows.map(({ chain, seq, ...call }) => {
        read.set(chain, seq);
        return call;
      });
      return { calls: calls.toSorted((one, other) => endOf(one) - endOf(other)), position: read };
    },
  };
}

function endOf({ started_at, duration_us }: CallRecord): number {
  return started_at + duration_us / 1000;
}
