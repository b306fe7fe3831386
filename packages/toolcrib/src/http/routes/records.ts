import { z } from 'zod';
import { callRecordListSchema, callRecordQuerySchema, callRecordSchema, changeEventListSchema, changeEventQuerySchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { CribError } from '../../model/crib-error.ts';
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
      async handle({ query: { cursor, limit = defaultLimit, ...filter } }) {
        const before = decodeCursor(cursor, 'string');
        const calls = await crib.store.calls.list({ ...filter, ...(before === undefined ? {} : { before }), limit });
        const last = calls.at(-1);
        return { calls, next_cursor: calls.length < limit || last === undefined ? null : encodeCursor(last.call_id) };
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
