import { sql } from 'kysely';
import type { Queries } from './tables.ts';

/**
 * Bounds what is kept for one owner, answers and artifacts together: counted from the newest back, what is beyond the bound goes. Of an
 * answer its content goes and its row stays, so that its key still stands for the call that was made.
 */
export async function trimKept(queries: Queries, owner: string, mostBytes: number): Promise<void> {
  const counted = sql`(
    select kind, call_id, n, sum(bytes) over (order by created_at desc, call_id desc, n desc, kind) as total from (
      select 'artifact' as kind, call_id, n, bytes, created_at from artifacts where owner = ${owner}
      union all
      select 'answer' as kind, call_id, 0 as n, bytes, created_at from answers where owner = ${owner} and bytes > 0
    ) as kept) as counted where total > ${mostBytes}`;
  await sql`update answers set body = '', bytes = 0
    where body is not null and call_id in (select call_id from ${counted} and kind = 'answer')`.execute(queries);
  await sql`delete from artifacts where (call_id, n) in (select call_id, n from ${counted} and kind = 'artifact')`.execute(queries);
}
