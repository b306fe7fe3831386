import { z } from 'zod';
import { policyCreateSchema, policyListSchema, policySchema, policyUpdateSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { splitStamp } from '../../model/read-back.ts';
import { defineRoute, type Route } from '../route.ts';

const params = z.strictObject({ id: z.string().min(1).max(64) });

/** [BFF-6] Access policies. */
export function policyRoutes({ policies }: Pick<Crib, 'policies'>): Route[] {
  const tag = 'policies';
  const access = 'administrator';
  return [
    defineRoute({
      method: 'GET',
      path: '/api/policies',
      operationId: 'listPolicies',
      summary: 'All access policies',
      tag,
      access,
      responses: { 200: { description: 'The policies', schema: policyListSchema } },
      handle: async () => ({ policies: await policies.list() }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/policies',
      operationId: 'createPolicy',
      summary: 'Creates an access policy',
      tag,
      access,
      body: policyCreateSchema,
      example: {
        id: 'operators',
        name: 'Operators use the built-in tools',
        matchers: [{ path: 'realm_access.roles', operator: 'contains', value: 'operator' }],
        groups: [],
      },
      responses: {
        201: {
          description: 'The new policy',
          schema: policySchema,
          headers: { Location: 'Where it is' },
          links: { getPolicy: '$response.body#/id', updatePolicy: '$response.body#/id', deletePolicy: '$response.body#/id' },
        },
      },
      errors: ['CONFLICT'],
      async handle({ principal, body, reply }) {
        const policy = await policies.create(principal, body);
        return reply.code(201).header('location', `/api/policies/${policy.id}`).send(policy);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/policies/{id}',
      operationId: 'getPolicy',
      summary: 'One access policy',
      tag,
      access,
      params,
      responses: { 200: { description: 'The policy', schema: policySchema } },
      errors: ['NOT_FOUND'],
      handle: ({ params }) => policies.get(params.id),
    }),
    defineRoute({
      method: 'PUT',
      path: '/api/policies/{id}',
      operationId: 'updatePolicy',
      summary: 'Replaces an access policy; what `GET` answers can be sent back',
      tag,
      access,
      params,
      body: policyUpdateSchema,
      example: { name: 'Nobody', enabled: false },
      responses: { 200: { description: 'The policy as it is now', schema: policySchema } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ principal, params, body }) {
        const { input, seen } = splitStamp(body, await policies.get(params.id));
        return policies.update(principal, params.id, input, { seen });
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/policies/{id}',
      operationId: 'deletePolicy',
      summary: 'Deletes an access policy',
      tag,
      access,
      params,
      responses: { 204: { description: 'Gone; what it granted is refused from the next request on' } },
      errors: ['NOT_FOUND'],
      async handle({ principal, params, reply }) {
        await policies.delete(principal, params.id);
        return reply.code(204).send();
      },
    }),
  ];
}
