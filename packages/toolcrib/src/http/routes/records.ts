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

/** [BFF-6] What happened: the record of calls and the record of changes. */
export function recordRoutes({ crib }: { crib: Crib }): Route[] {
  const access = 'administrator';
  return [
    defineRoute({
      method: 'GET',
      path: '/api/calls',
      operationId: 'listCalls',
      summary: 'The record of calls and denials, newest first',
      description: 'With `follow`, those that have ended since an earlier answer, in the order in which they ended.',
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
        const filter = callFilterOf(crib, query);
        if (follow !== undefined) {
          if (cursor !== undefined) throw new CribError('VALIDATION_ERROR', 'cursor and follow do not go together', { field: 'follow' });
          const { calls, position } = await crib.store.calls.ended.after(decodeFollowCursor(follow), limit);
          const fitting = calls.filter((call) => fitsFilter(call, filter));
          return { calls: fitting, next_cursor: null, follow_cursor: encodeFollowCursor(position) };
        }
        const before = decodeCursor(cursor, 'string');
        // First, so that what ends meanwhile is seen twice rather than never.
        const position = await crib.store.calls.ended.position();
        const { calls, next } = await crib.store.calls.list({ ...filter, ...(before === undefined ? {} : { before }), limit });
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
      async handle({ params }) {
        const record = await crib.store.calls.get(params.id);
        if (record === undefined) throw new CribError('NOT_FOUND', 'There is no record of such a call');
        return record;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/events',
      operationId: 'listEvents',
      summary: 'The record of administrative changes, newest first, with what was there before and after',
      tag: 'records',
      access,
      query: changeEventQuerySchema,
      responses: { 200: { description: 'One page of the record', schema: changeEventListSchema } },
      async handle({ query: { cursor, limit = defaultLimit, topic } }) {
        const before = decodeCursor(cursor, 'number');
        const page = { limit, ...(before === undefined ? {} : { before }), ...(topic === undefined ? {} : { topic }) };
        const events = await crib.store.events.list(page);
        const last = events.at(-1);
        return { events, next_cursor: events.length < limit || last === undefined ? null : encodeCursor(last.id) };
      },
    }),
  ];
}
