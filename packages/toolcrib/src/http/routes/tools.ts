import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { compactToolListSchema, listQuerySchema, toolListSchema, utcpManualSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { defineRoute, type Route } from '../route.ts';
import { createToolList, type ListPage } from '../tool-list.ts';

const ifNoneMatch = z.object({ 'If-None-Match': z.string().optional() });
const unchanged = { 304: { description: 'Unchanged' } };
const pageHeaders = { ETag: 'Changes when this page does' };

/** `publicUrl` is where callers reach this server, without a slash at its end. */
export function toolRoutes({ inventory, publicUrl }: Pick<Crib, 'inventory'> & { publicUrl: string }): Route[] {
  const list = createToolList({ inventory });
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
      headers: ifNoneMatch,
      rated: ({ q }) => q !== undefined,
      responses: {
        200: {
          description: 'One page of tools; with `format` or `view`, in the form that was asked for',
          schema: z.union([toolListSchema, compactToolListSchema, z.looseObject({ tools: z.unknown() })]),
          headers: pageHeaders,
        },
        ...unchanged,
      },
      errors: ['RATE_LIMITED'],
      handle: ({ principal, query, request, reply }) => sendPage(list(principal, query, publicUrl), request, reply),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/utcp',
      operationId: 'getUtcpManual',
      summary: 'The tools the caller may use, as a UTCP manual',
      description: 'The whole list, without pages; with `q`, the best matches. The same as `GET /api/bff/tools?format=utcp`.',
      tag: 'agents',
      access: 'caller',
      query: listQuerySchema.pick({ q: true, group: true, limit: true }),
      headers: ifNoneMatch,
      rated: ({ q }) => q !== undefined,
      responses: { 200: { description: 'The manual', schema: utcpManualSchema, headers: pageHeaders }, ...unchanged },
      errors: ['RATE_LIMITED'],
      handle: ({ principal, query, request, reply }) => sendPage(list(principal, { ...query, format: 'utcp' }, publicUrl), request, reply),
    }),
  ];
}

function sendPage(page: ListPage, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  void reply.header('etag', page.etag).header('cache-control', 'private, no-cache').header('vary', 'Authorization, Origin');
  if (isKnown(page.etag, request.headers['if-none-match'])) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(page.body());
}

/** RFC 9110 §13.1.2: any of a list, or `*`. A proxy that compresses an answer marks its tag as weak, which does not matter here. */
function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined || ifNoneMatch === etag) return ifNoneMatch === etag;
  return ifNoneMatch.split(',').some((given) => [etag, `W/${etag}`, '*'].includes(given.trim()));
}
