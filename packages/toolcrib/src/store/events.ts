import type { Selectable } from 'kysely';
import type { ChangeEvent, ChangeTopic } from '../model/event.ts';
import { readJson } from './read-row.ts';
import type { Queries, Tables } from './tables.ts';

export interface EventPage {
  /** Only events with a greater id, oldest first. */
  after?: number;
  /** Only events with a smaller id. */
  before?: number;
  limit: number;
  topic?: ChangeTopic;
  /** The id of what changed. */
  subject?: string;
}

export type Events = ReturnType<typeof createEvents>;

export function createEvents(queries: Queries) {
  return {
    /** The newest first; with `after`, the oldest first, so that a reader can go on from where it stopped. */
    async list({ after, before, limit, topic, subject }: EventPage): Promise<ChangeEvent[]> {
      let query = queries.selectFrom('events').selectAll().limit(limit);
      if (after !== undefined) query = query.where('id', '>', after);
      if (before !== undefined) query = query.where('id', '<', before);
      if (topic !== undefined) query = query.where('topic', '=', topic);
      if (subject !== undefined) query = query.where('subject', '=', subject);
      return (await query.orderBy('id', after === undefined ? 'desc' : 'asc').execute()).map(read);
    },

    /** The subjects that were changed after this event, each once. */
    async subjectsAfter(id: number, topics: readonly ChangeTopic[], limit: number): Promise<Pick<ChangeEvent, 'topic' | 'subject'>[]> {
      const query = queries.selectFrom('events').select(['topic', 'subject']).distinct();
      return await query.where('id', '>', id).where('topic', 'in', topics).limit(limit).execute();
    },

    /** The revision of what these topics, or all of them, are about: the id of the last change, 0 before the first. */
    async lastId(topics?: readonly ChangeTopic[]): Promise<number> {
      if (topics?.length === 0) return 0;
      let kept = queries.selectFrom('events').select(({ fn }) => fn.max('id').as('id'));
      let deleted = queries.selectFrom('revisions').select(({ fn }) => fn.max('id').as('id'));
      if (topics !== undefined) {
        kept = kept.where('topic', 'in', topics);
        deleted = deleted.where('topic', 'in', topics);
      }
      const rows = await kept.unionAll(deleted).execute();
      return Math.max(0, ...rows.map(({ id }) => id ?? 0));
    },
  };
}

type LinkEvent = (row: Selectable<Tables['events']>) => Promise<void>;

/** Only `change()` writes events, so there is no event without its change and no change without its event. */
export async function insertEvent(transaction: Queries, event: Omit<ChangeEvent, 'id'>, link?: LinkEvent): Promise<ChangeEvent> {
  const { before, after, ...rest } = event;
  const values = { ...rest, before: JSON.stringify(before), after: JSON.stringify(after) };
  const row = await transaction.insertInto('events').values(values).returningAll().executeTakeFirstOrThrow();
  await link?.(row);
  return read(row);
}

function read({ chain: _chain, seq: _seq, mac: _mac, ...row }: Selectable<Tables['events']>): ChangeEvent {
  const id = String(row.id);
  return { ...row, before: readJson('events', id, row.before), after: readJson('events', id, row.after) };
}
