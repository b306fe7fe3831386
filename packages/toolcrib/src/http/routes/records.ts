import { z } from 'zod';
import { callRecordListSchema, callRecordQuerySchema, callRecordSchema, changeEventListSchema, changeEventQuerySchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { CribError } from '../../model/crib-error.ts';
import { fitsFilter } from '../../store/call-filter.ts';
import { callFilterOf } from '../call-query.ts';
import { decodeFollowCursor, encodeFollowCursor } from '../follow-cursor.ts';
import { decodeCursor, encodeCursor } from '../page-cursor.ts';
import { defineRoute, type Route } from '../route.ts';

const params = z.strictObject({ id: z.string().min(1).max(64) });
const defaultLimit = 100;

/** [BFF-6] The record of calls and the record of changes. */
export function recordRoutes({ records, sources, tools }: Pick<Crib, 'records' | 'sources' | 'tools'>): Route[] {
  const access = 'administrator';
  return [
    defineRoute({
      method: 'GET',
      path: '/api/calls',
      operationId: 'listCalls',
      summary: 'The record of calls and denials, newest first',
      description: 'With `follow`, the calls that have ended since an earlier answer, in the order in which they ended.',
      tag: 'records',
      access,
      query: callRecordQuerySchema,
      responses: {
        200: {
          description: 'One page of the record',
          schema: callRecordListSchema,
          links: { getCallRecord: '$response.body#/calls/0/call_id' },
        },
      },
      errors: ['NOT_FOUND'],
      async handle({ query }) {
        const { cursor, follow, limit = defaultLimit } = query;
        const filter = callFilterOf({ sources, tools }, query);
        if (follow !== undefined) {
          if (cursor !== undefined) throw new CribError('VALIDATION_ERROR', 'cursor and follow do not go together', { field: 'follow' });
          const { calls, position } = await records.calls.ended.after(decodeFollowCursor(follow), limit);
          const fitting = calls.filter((call) => fitsFilter(call, filter));
          return { calls: fitting, next_cursor: null, follow_cursor: encodeFollowCursor(position) };
        }
        const before = decodeCursor(cursor, 'string');
        // Read first: a call that ends meanwhile is then listed twice rather than never.
        const position = await records.calls.ended.position();
        const { calls, next } = await records.calls.list({ ...filter, ...(before === undefined ? {} : { before }), limit });
        return { calls, next_cursor: next === null ? null : encodeCursor(next), follow_cursor: encodeFollowCursor(position) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/calls/{id}',
      operationId: 'getCallRecord',
      summary: 'One line of the record',
      tag: 'records',
      access,
      params,
      responses: { 200: { description: 'The record of the call', schema: callRecordSchema } },
      errors: ['NOT_FOUND'],
      handle: ({ params }) => records.call(params.id),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/events',
      operationId: 'listEvents',
      summary: 'The record of administrative changes, newest first, with the state before and after each',
      tag: 'records',
      access,
      query: changeEventQuerySchema,
      responses: { 200: { description: 'One page of the record', schema: changeEventListSchema } },
      async handle({ query: { cursor, limit = defaultLimit, topic } }) {
        const before = decodeCursor(cursor, 'number');
        const page = { limit, ...(before === undefined ? {} : { before }), ...(topic === undefined ? {} : { topic }) };
        const events = await records.changes.list(page);
        const last = events.at(-1);
        return { events, next_cursor: events.length < limit || last === undefined ? null : encodeCursor(last.id) };
      },
    }),
  ];
}
