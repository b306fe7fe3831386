import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { CallRecord } from '../model/call.ts';
import { ledgers } from './audit/ledgers.ts';
import { idsWithin, type CallFilter } from './call-filter.ts';
import type { Queries } from './tables.ts';

export interface CallPage extends CallFilter {
  /** Only calls that began before this one. */
  before?: string;
  limit: number;
}

export interface FoundCalls {
  /** The newest first. */
  calls: CallRecord[];
  /** Before which one to go on; null where all were looked at. */
  next: string | null;
}

export const callColumns = ledgers.calls.columns.map(([name]) => name as keyof CallRecord);

/** How many rows a step looks at, twice as many in each: at last some milliseconds on SQLite, for which every call waits. */
const firstStep = 1000;
const longestStep = { all: 16_000, byIndex: 2000 };
/** Takes less than a second in all; a search for something rarer goes on from there. */
const mostRows = 1_000_000;

/**
 * Goes through the calls from the newest on, by their ids, step by step. There is no index for people, tools and sources: each would make
 * writing the record of every call several times slower, for a question that is asked now and then. What did not complete has one, in the
 * order of ids as well: nearly nothing is written to it.
 */
export async function findCalls(queries: Queries, page: CallPage): Promise<FoundCalls> {
  const { limit, issuer, subject, user, tool, sourceId, statuses, origins } = page;
  const within = idsWithin(page);
  // A call with an origin of failure did not complete.
  const notCompleted = statuses?.includes('completed') === false || origins !== undefined;
  const isOpen = [issuer, subject, user, tool, sourceId, statuses, origins].every((condition) => condition === undefined);

  function candidates(before: string | undefined) {
    let query = queries.selectFrom('calls').orderBy('call_id', 'desc');
    if (before !== undefined) query = query.where('call_id', '<', before);
    if (within.before !== undefined) query = query.where('call_id', '<', within.before);
    if (within.after !== undefined) query = query.where('call_id', '>=', within.after);
    // In the words of the index, by which it is found.
    if (notCompleted) query = query.where(sql<boolean>`status <> 'completed'`);
    return query;
  }

  /** The last of the next ones, or undefined where there are fewer. */
  async function endOfStep(before: string | undefined, rows: number): Promise<string | undefined> {
    const query = candidates(before)
      .select('call_id')
      .offset(rows - 1);
    return (await query.limit(1).executeTakeFirst())?.call_id;
  }

  function matching(before: string | undefined, end: string | undefined, most: number): Promise<CallRecord[]> {
    let query = candidates(before).select(callColumns).limit(most);
    if (end !== undefined) query = query.where('call_id', '>=', end);
    if (issuer !== undefined) query = query.where('issuer', '=', issuer);
    if (subject !== undefined) query = query.where('subject', '=', subject);
    if (user !== undefined) query = query.where((where) => where.or([where('subject', '=', user), where('user_name', '=', user)]));
    if (tool !== undefined) query = query.where('tool', '=', tool);
    if (sourceId !== undefined) query = query.where('source_id', '=', sourceId);
    if (statuses !== undefined) query = query.where('status', 'in', statuses);
    if (origins !== undefined) query = query.where('error_origin', 'in', origins);
    return query.execute();
  }

  const calls: CallRecord[] = [];
  let { before } = page;
  let rows = firstStep;
  for (let seen = 0; seen < mostRows; seen += rows) {
    const end = isOpen ? undefined : await endOfStep(before, rows);
    calls.push(...(await matching(before, end, limit - calls.length)));
    if (calls.length === limit) return { calls, next: calls.at(-1)?.call_id ?? null };
    if (end === undefined) return { calls, next: null };
    before = end;
    rows = Math.min(rows * 2, notCompleted ? longestStep.byIndex : longestStep.all);
    await nextTurn();
  }
  return { calls, next: before ?? null };
}
