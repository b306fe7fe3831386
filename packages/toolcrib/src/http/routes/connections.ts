import { z } from 'zod';
import { begunConnectionSchema, connectionListSchema, connectionSchema, redemptionSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { CribError } from '../../model/crib-error.ts';
import type { Principal } from '../../model/principal.ts';
import type { ClaimCheck } from '../../policy/claim-check.ts';
import { connectionPage } from '../connection-page.ts';
import { parkedPage } from '../parked-page.ts';
import { defineRoute, type Route } from '../route.ts';
import { toCribError } from '../to-crib-error.ts';

const tag = 'connections';
const access = 'caller';
const params = z.strictObject({ source_id: z.string().min(1).max(64) });
const purpose = z.strictObject({
  for: z.enum(['calls', 'discovery']).optional().describe('`discovery`, by administrators: the connection with which the tools are found'),
});
const beginning = purpose.extend({
  loopback_port: z.coerce
    .number()
    .int()
    .min(1024)
    .max(65_535)
    .optional()
    .describe("A port of 127.0.0.1 on the user's machine: the last page has a link that takes the code there, as the parameter `code`"),
});
/** Authorization servers add parameters of their own, which mean nothing here. */
const callbackQuery = z.object({
  state: z.string().max(512).optional(),
  code: z.string().max(8192).optional(),
  iss: z.string().max(2048).optional(),
  error: z.string().max(512).optional(),
});

/** [BFF-6] Every user's own connections to sources. */
export function connectionRoutes({ connections, administers }: Pick<Crib, 'connections'> & { administers: ClaimCheck }): Route[] {
  const optionsFor = (principal: Principal, query: z.infer<typeof purpose> = {}) => ({
    administrator: administers(principal),
    ...(query.for === undefined ? {} : { for: query.for }),
  });
  return [
    defineRoute({
      method: 'GET',
      path: '/api/connections',
      operationId: 'listConnections',
      summary: 'The sources that need a connection of the caller, and whether there is one',
      tag,
      access,
      responses: { 200: { description: 'The connections', schema: connectionListSchema } },
      handle: async ({ principal }) => ({ connections: await connections.list(principal, optionsFor(principal)) }),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/connections/callback/{source_id}',
      operationId: 'parkConnection',
      summary: 'Where an authorization server sends the browser of a user back to',
      description:
        'Answers with a page for the person who reads it, also where it fails. The `state` works once. Nothing is connected yet: the page shows a code with which the user who began the connection finishes it.',
      tag,
      access: 'public',
      params,
      query: callbackQuery,
      responses: { 200: { description: 'Allowed, and waiting to be finished', schema: z.string(), contentType: 'text/html' } },
      async handle({ params, query, reply }) {
        void reply
          .header(
            'content-security-policy',
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
          )
          .header('x-frame-options', 'DENY')
          .header('referrer-policy', 'no-referrer')
          .type('text/html; charset=utf-8');
        try {
          return await reply.send(parkedPage(await connections.park(params.source_id, query)));
        } catch (error) {
          const refusal = toCribError(error) ?? new CribError('INTERNAL', 'Something failed inside Toolcrib. Start again');
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
        'Open `authorization_url` in a browser within ten minutes and allow it there. The last page shows a code: `POST` it to `redeem_url`. The address is for the caller alone.',
      tag,
      access,
      params,
      query: beginning,
      rated: () => true,
      responses: { 200: { description: 'Where the user decides', schema: begunConnectionSchema } },
      errors: ['RATE_LIMITED', 'NOT_FOUND', 'CONFLICT', 'NETWORK_ERROR', 'SERVICE_UNAVAILABLE'],
      handle: ({ principal, params, query }) =>
        connections.begin(principal, params.source_id, {
          ...optionsFor(principal, query),
          ...(query.loopback_port === undefined ? {} : { loopbackPort: query.loopback_port }),
        }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/connections/{source_id}/redeem',
      operationId: 'redeemConnection',
      summary: 'Finishes a connection that the caller began, with the code that the last page shows',
      description:
        'Needs the token of the user who began the connection and the code from the last page, which only the browser that allowed it was shown. So nobody can take over the account of another user. The code works once, for five minutes at most; many authorization servers allow one minute.',
      tag,
      access,
      params,
      query: purpose,
      body: redemptionSchema,
      responses: { 200: { description: 'The connection', schema: connectionSchema } },
      errors: ['NOT_FOUND', 'CONFLICT', 'NETWORK_ERROR', 'SERVICE_UNAVAILABLE'],
      handle: ({ principal, params, query, body }) =>
        connections.redeem(principal, params.source_id, body.code, optionsFor(principal, query)),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/connections/{source_id}',
      operationId: 'endConnection',
      summary: 'Ends a connection of the caller: its tokens are deleted here and revoked at the authorization server',
      tag,
      access,
      params,
      query: purpose,
      responses: { 204: { description: 'Gone' } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ principal, params, query, reply }) {
        await connections.revoke(principal, params.source_id, optionsFor(principal, query));
        return reply.code(204).send();
      },
    }),
  ];
}
