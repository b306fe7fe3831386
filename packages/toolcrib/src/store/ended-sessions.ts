import type { Queries } from './tables.ts';

export type EndedSessions = ReturnType<typeof createEndedSessions>;

/** [DOOR-4] Sessions of MCP clients that have ended. Their ids say all about them otherwise, so nothing else is kept. */
export function createEndedSessions(queries: Queries, now: () => number) {
  return {
    /** `until` is when its id is too old to be used anyway, in epoch milliseconds. */
    async add(session: string, until: number): Promise<void> {
      await queries.deleteFrom('ended_sessions').where('until', '<', now()).execute();
      await queries
        .insertInto('ended_sessions')
        .values({ session, until })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },

    async has(session: string): Promise<boolean> {
      const row = await queries.selectFrom('ended_sessions').select('session').where('session', '=', session).executeTakeFirst();
      return row !== undefined;
    },
  };
}
