import type { Database } from './database.ts';

/** Whether there is anything that keys once sealed or chained, so that others would be of no use for it. */
export async function needsKeys({ kysely }: Database): Promise<boolean> {
  const firsts = await Promise.all([
    kysely.selectFrom('secrets').select('id').limit(1).execute(),
    kysely.selectFrom('connections').select('id').limit(1).execute(),
    kysely.selectFrom('login_grants').select('id').limit(1).execute(),
    kysely.selectFrom('login_keys').select('id').limit(1).execute(),
    kysely.selectFrom('chains').select('id').limit(1).execute(),
  ]);
  return firsts.some((rows) => rows.length > 0);
}
