import { z } from 'zod';
import { begunConnectionSchema, connectionListSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { CribError } from '../../model/crib-error.ts';
import { sourceOwner } from '../../model/connection.ts';
import type { Principal } from '../../model/principal.ts';
import type { ClaimCheck } from '../../policy/claim-check.ts';
import { connectionPage } from '../connection-page.ts';
import { defineRoute, type Route } from '../route.ts';
import { toCribError } from '../to-crib-error.ts';

const tag = 'connections';
const access = 'caller';
const params = z.strictObject({ source_id: z.string().min(1).max(64) });
const purpose = z.strictObject({
  for: z.enum(['calls', 'discovery']).optional().describe('`discovery`, by administrators: the connection with which the tools are found'),
});
/** Authorization servers add parameters of their own, which mean nothing here. */
const callbackQuery = z.object({
  state: z.string().max(512).optional(),
  code: z.string().max(8192).optional(),
  iss: z.string().max(2048).optional(),
  error: z.string().max(512).optional(),
});

/** [BFF-6] Every user's own connections to sources. */
export function connectionRoutes({ crib, administers }: { crib: Crib; administers: ClaimCheck }): Route[] {
  const optionsFor = (principal: Principal) => ({ administrator: administers(principal) });
  return [
    defineRoute({
      method: 'GET',
      path: '/api/connections',
      operationId: 'listConnections',
      summary: 'The sources that want a connection of the caller, and whether there is one',
      tag,
      access,
      responses: { 200: { description: 'The connections', schema: connectionListSchema } },
      handle: async ({ principal }) => ({ connections: await crib.connections.list(principal, optionsFor(principal)) }),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/connections/callback',
      operationId: 'finishConnection',
      summary: 'Where an authorization server sends the browser of a user back to',
      description: 'Answers with a page for the person who reads it, also where it fails. The `state` is the proof, and works once.',
      tag,
      access: 'public',
      query: callbackQuery,
      responses: { 200: { description: 'Connected', schema: z.string(), contentType: 'text/html' } },
      async handle({ query, reply }) {
        void reply
          .header('cache-control', 'no-store')
          .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
          .header('referrer-policy', 'no-referrer')
          .header('x-content-type-options', 'nosniff')
          .type('text/html; charset=utf-8');
        try {
          const { source, owner, begunBy } = await crib.connections.finish(query);
          const what =
            owner === sourceOwner ? `The tools of ${source.name} can be found now.` : `${source.name} is connected for ${begunBy}.`;
          const warning = `If you are not ${begunBy}, somebody else can now use what you have just allowed: withdraw it at the server, and tell your administrator.`;
          return await reply.send(connectionPage('Connected', [what, 'You may close this page.', warning]));
        } catch (error) {
          const refusal = toCribError(error) ?? new CribError('INTERNAL', 'Something failed inside Toolcrib. Begin again');
          return reply.code(refusal.httpStatus).send(connectionPage('Not connected', [refusal.message]));
        }
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/connections/{source_id}',
      operationId: 'beginConnection',
      summary: 'Begins a connection of the caller; by id or namespace of the source',
      description:
        'Open `authorization_url` in a browser within ten minutes and allow it there. The address is for the caller alone: whoever allows it at that address gives the caller their own access.',
      tag,
      access,
      params,
      query: purpose,
      responses: { 200: { description: 'Where the user decides', schema: begunConnectionSchema } },
      errors: ['NOT_FOUND', 'CONFLICT', 'NETWORK_ERROR', 'SERVICE_UNAVAILABLE'],
      handle: ({ principal, params, query }) =>
        crib.connections.begin(principal, params.source_id, {
          ...optionsFor(principal),
          ...(query.for === undefined ? {} : { for: query.for }),
        }),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/connections/{source_id}',
      operationId: 'endConnection',
      summary: 'Ends a connection of the caller: its tokens are deleted here and withdrawn there',
      tag,
      access,
      params,
      query: purpose,
      responses: { 204: { description: 'Gone' } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ principal, params, query, reply }) {
        const options = { ...optionsFor(principal), ...(query.for === undefined ? {} : { for: query.for }) };
        await crib.connections.revoke(principal, params.source_id, options);
        return reply.code(204).send();
      },
    }),
  ];
}
