import { z } from 'zod';
import { groupCreateSchema, groupListSchema, groupSchema, groupUpdateSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { splitStamp } from '../../model/read-back.ts';
import { defineRoute, type Route } from '../route.ts';

const params = z.strictObject({ id: z.string().min(1).max(64) });

/** [BFF-6] Tool groups. */
export function groupRoutes({ groups }: Pick<Crib, 'groups'>): Route[] {
  const tag = 'groups';
  const access = 'administrator';

  return [
    defineRoute({
      method: 'GET',
      path: '/api/groups',
      operationId: 'listGroups',
      summary: 'All tool groups',
      tag,
      access,
      responses: { 200: { description: 'The groups', schema: groupListSchema } },
      handle: async () => ({ groups: await groups.list() }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/groups',
      operationId: 'createGroup',
      summary: 'Creates a tool group',
      tag,
      access,
      body: groupCreateSchema,
      example: { id: 'clocks', name: 'Clocks', selectors: [{ tags: ['time'] }], exclude: ['builtin:wait'] },
      responses: {
        201: {
          description: 'The new group',
          schema: groupSchema,
          headers: { Location: 'Where it is' },
          links: { getGroup: '$response.body#/id', updateGroup: '$response.body#/id', deleteGroup: '$response.body#/id' },
        },
      },
      errors: ['CONFLICT'],
      async handle({ principal, body, reply }) {
        const group = await groups.create(principal, body);
        return reply.code(201).header('location', `/api/groups/${group.id}`).send(group);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/groups/{id}',
      operationId: 'getGroup',
      summary: 'One tool group',
      tag,
      access,
      params,
      responses: { 200: { description: 'The group', schema: groupSchema } },
      errors: ['NOT_FOUND'],
      handle: ({ params }) => groups.get(params.id),
    }),
    defineRoute({
      method: 'PUT',
      path: '/api/groups/{id}',
      operationId: 'updateGroup',
      summary: 'Replaces a tool group; what `GET` answers can be sent back',
      tag,
      access,
      params,
      body: groupUpdateSchema,
      example: { name: 'Clocks', selectors: [{ tags: ['time'] }] },
      responses: { 200: { description: 'The group as it is now', schema: groupSchema } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ principal, params, body }) {
        const { input, seen } = splitStamp(body, await groups.get(params.id));
        return groups.update(principal, params.id, input, { seen });
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/groups/{id}',
      operationId: 'deleteGroup',
      summary: 'Deletes a tool group that no policy grants',
      tag,
      access,
      params,
      responses: { 204: { description: 'Gone' } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ principal, params, reply }) {
        await groups.delete(principal, params.id);
        return reply.code(204).send();
      },
    }),
  ];
}
