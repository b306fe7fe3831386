import { z } from 'zod';
import { secretListSchema, secretValueSchema, setSecretSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { secretNameSchema } from '../../secrets/secret-name.ts';
import { defineRoute, type Route } from '../route.ts';

const params = z.strictObject({ name: secretNameSchema });

/** [BFF-6] Secrets: their names and dates. [ENV-4] No answer has a value in it. */
export function secretRoutes({ secrets }: Pick<Crib, 'secrets'>): Route[] {
  const tag = 'secrets';
  const access = 'administrator';
  return [
    defineRoute({
      method: 'GET',
      path: '/api/secrets',
      operationId: 'listSecrets',
      summary: 'All secrets, without their values',
      tag,
      access,
      responses: { 200: { description: 'The secrets', schema: secretListSchema } },
      handle: async () => ({ secrets: await secrets.list() }),
    }),
    defineRoute({
      method: 'PUT',
      path: '/api/secrets/{name}',
      operationId: 'setSecret',
      summary: 'Makes a secret or replaces its value',
      description:
        'The value is sealed and is never shown again. `***` keeps the value that is stored. Servers that were started with the old value are started again, and calls under way finish first, unless their source says `on_secret_change: keep`.',
      tag,
      access,
      params,
      body: secretValueSchema,
      example: { value: 'the value itself' },
      responses: {
        200: {
          description: 'The secret with its new value',
          schema: setSecretSchema,
          links: { deleteSecret: { name: '$response.body#/name' } },
        },
        201: { description: 'The new secret', schema: setSecretSchema, links: { deleteSecret: { name: '$response.body#/name' } } },
      },
      errors: ['CONFLICT'],
      async handle({ principal, params, body, reply }) {
        const { secret, created, kept_by } = await secrets.set(principal, params.name, body.value);
        return reply.code(created ? 201 : 200).send({ ...secret, kept_by });
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/secrets/{name}',
      operationId: 'deleteSecret',
      summary: 'Deletes a secret; one that sources refer to only with `force`',
      tag,
      access,
      params,
      query: z.strictObject({ force: z.enum(['true', 'false']).optional() }),
      responses: { 204: { description: 'Gone' } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ principal, params, query, reply }) {
        await secrets.delete(principal, params.name, { force: query.force === 'true' });
        return reply.code(204).send();
      },
    }),
  ];
}
