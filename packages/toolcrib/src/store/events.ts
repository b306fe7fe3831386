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
}

export type Events = ReturnType<typeof createEvents>;

export function createEvents(queries: Queries) {
  return {
    /** The newest first; with `after`, the oldest first, so that a reader can go on from where it stopped. */
    async list({ after, before, limit, topic }: EventPage): Promise<ChangeEvent[]> {
      let query = queries.selectFrom('events').selectAll().limit(limit);
      if (after !== undefined) query = query.where('id', '>', after);
      if (before !== undefined) query = query.where('id', '<', before);
      if (topic !== undefined) query = query.where('topic', '=', topic);
      return (await query.orderBy('id', after === undefined ? 'desc' : 'asc').execute()).map(read);
    },

    /** What was changed after this event, each thing once. */
    async subjectsAfter(id: number, topics: readonly ChangeTopic[], limit: number): Promise<Pick<ChangeEvent, 'topic' | 'subject'>[]> {
      const query = queries.selectFrom('events').select(['topic', 'subject']).distinct();
      return await query.where('id', '>', id).where('topic', 'in', topics).limit(limit).execute();
    },

    /** The revision of what these topics, or all of them, are about: the id of the last change, 0 before the first. */
    async lastId(topics?: readonly ChangeTopic[]): Promise<number> {
      if (topics?.length === 0) return 0;
      const query = queries.selectFrom('events').select(({ fn }) => fn.max('id').as('id'));
      const row = await (topics === undefined ? query : query.where('topic', 'in', topics)).executeTakeFirst();
      return row?.id ?? 0;
    },
  };
}

/** Only `change()` writes events, so there is no event without its change and no change without its event. */
export async function insertEvent(transaction: Queries, event: Omit<ChangeEvent, 'id'>): Promise<ChangeEvent> {
  const { at, kind, topic, subject, actor } = event;
  const row = { at, kind, topic, subject, actor, before: JSON.stringify(event.before), after: JSON.stringify(event.after) };
  return read(await transaction.insertInto('events').values(row).returningAll().executeTakeFirstOrThrow());
}

function read(row: Selectable<Tables['events']>): ChangeEvent {
  const id = String(row.id);
  return { ...row, before: readJson('events', id, row.before), after: readJson('events', id, row.after) };
}
