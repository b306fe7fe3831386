import { z } from 'zod';
import { sourceLogSchema, wireLogSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { CribError } from '../../model/crib-error.ts';
import { endWithToken } from '../end-with-token.ts';
import { openEventStream } from '../event-stream.ts';
import { defineRoute, type Route } from '../route.ts';

const params = z.strictObject({ id: z.string().min(1).max(64) });
const tag = 'sources';
const access = 'administrator';

interface SourceLogRoutesInput extends Pick<Crib, 'sources' | 'logOf' | 'wireLogOf' | 'wireLog'> {
  closing: AbortSignal;
}

/** [BFF-6] [OPS-1] The logs and events of sources, and the messages exchanged with them. */
export function sourceLogRoutes({ sources, logOf, wireLogOf, wireLog, closing }: SourceLogRoutesInput): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/sources/{id}/logs',
      operationId: 'sourceLogs',
      summary: 'The last log lines and events of a source; as a stream, also those that follow',
      description:
        'With `wire` the messages between Toolcrib and the source instead, as far as they were kept. A stream ends when the token does.',
      tag,
      access,
      params,
      query: z.strictObject({
        lines: z.coerce.number().int().min(1).max(1000).optional(),
        wire: z.enum(['true', 'false']).optional(),
      }),
      responses: {
        200: { description: 'The last lines, oldest first', schema: sourceLogSchema, events: '`line` events, from the last lines on' },
      },
      errors: ['NOT_FOUND'],
      handle({ principal, params, query, request, reply }) {
        const { id } = sources.get(params.id);
        const log = query.wire === 'true' ? wireLogOf(id) : logOf(id);
        const last = log.tail(query.lines ?? 100);
        if (request.headers.accept?.includes('text/event-stream') !== true) return { lines: last };
        const stream = openEventStream(reply);
        for (const line of last) stream.send('line', line);
        const stopFollowing = log.onLine((line) => stream.send('line', line));
        stream.onClose(stopFollowing);
        endWithToken(stream, principal, closing);
        return reply;
      },
    }),
    defineRoute({
      method: 'PUT',
      path: '/api/sources/{id}/wire-log',
      operationId: 'setWireLog',
      summary: 'Starts or stops keeping every message between Toolcrib and a source',
      description:
        'For debugging a server. The log holds what users send and receive, without secrets. Only the server you ask keeps it, in memory; it ends by itself. Switching it on or off is recorded as a change.',
      tag,
      access,
      params,
      body: z.strictObject({ enabled: z.boolean(), minutes: z.int().min(1).max(1440).default(15) }),
      example: { enabled: true, minutes: 15 },
      responses: { 200: { description: 'As it is now', schema: wireLogSchema } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      handle({ principal, params, body }) {
        const { id, definition } = sources.get(params.id);
        if (definition === null) throw new CribError('CONFLICT', 'The built-in tools are called without any messages');
        return wireLog.set(principal, id, body);
      },
    }),
  ];
}
