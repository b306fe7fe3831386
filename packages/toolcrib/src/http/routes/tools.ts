import { z } from 'zod';
import { listQuerySchema, toolListSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { defineRoute, type Route } from '../route.ts';
import { createToolList } from '../tool-list.ts';

export function toolRoutes({ crib, baseUrl }: { crib: Crib; baseUrl: string }): Route[] {
  const list = createToolList({ counter: crib.counter });
  return [
    defineRoute({
      method: 'GET',
      path: '/api/bff/tools',
      operationId: 'listTools',
      summary: 'The tools the caller may use',
      description: 'Answers 304 when `If-None-Match` carries the ETag of an unchanged list.',
      tag: 'agents',
      access: 'caller',
      query: listQuerySchema,
      headers: z.object({ 'If-None-Match': z.string().optional() }),
      rated: ({ q }) => q !== undefined,
      responses: {
        200: {
          description: 'One page of tools; with `format`, in the form that was asked for',
          schema: z.union([toolListSchema, z.looseObject({ tools: z.unknown() })]),
          headers: { ETag: 'Changes when this page does' },
        },
        304: { description: 'Unchanged' },
      },
      errors: ['RATE_LIMITED'],
      handle({ principal, query, request, reply }) {
        const page = list(principal, query, baseUrl);
        void reply.header('etag', page.etag).header('cache-control', 'private, no-cache').header('vary', 'Authorization, Origin');
        if (isKnown(page.etag, request.headers['if-none-match'])) return reply.code(304).send();
        return reply.type('application/json; charset=utf-8').send(page.body());
      },
    }),
  ];
}

/** RFC 9110 §13.1.2: any of a list, or `*`. A proxy that compresses an answer marks its tag as weak, which does not matter here. */
function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined || ifNoneMatch === etag) return ifNoneMatch === etag;
  return ifNoneMatch.split(',').some((given) => [etag, `W/${etag}`, '*'].includes(given.trim()));
}
