import { z } from 'zod';
import { userConnectionListSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { defineRoute, type Route } from '../route.ts';

const tag = 'connections';
const access = 'administrator';
const owner = z.string().min(1).max(2048).describe('Issuer and subject, separated by a space, as in the list');
const source = z.string().min(1).max(64).optional().describe('Id or namespace of a source');

/** [BFF-6] The connections of all users, for administrators. */
export function userConnectionRoutes({ connections }: Pick<Crib, 'connections'>): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/user-connections',
      operationId: 'listUserConnections',
      summary: 'Which users are connected to which sources; the newest first',
      tag,
      access,
      query: z.strictObject({ owner: owner.optional(), source, limit: z.coerce.number().int().min(1).max(1000).default(100) }),
      responses: { 200: { description: 'The connections; never what they allow', schema: userConnectionListSchema } },
      errors: ['NOT_FOUND'],
      handle: async ({ query }) => ({ connections: await connections.ofUsers.list(query) }),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/user-connections',
      operationId: 'endUserConnections',
      summary: 'Ends the connections of a user, to one source or to all of them',
      description:
        'The tokens are deleted here and revoked at the authorization server. From the next call on, no server uses them. The change is recorded.',
      tag,
      access,
      query: z.strictObject({ owner, source }),
      responses: { 200: { description: 'How many there were', schema: z.strictObject({ ended: z.int() }) } },
      errors: ['NOT_FOUND'],
      handle: async ({ principal, query }) => ({ ended: await connections.ofUsers.end(principal, query) }),
    }),
  ];
}
