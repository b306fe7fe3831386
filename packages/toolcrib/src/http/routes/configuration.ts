import { z } from 'zod';
import { appliedConfigSchema, configPlanSchema } from '../../api.ts';
import { wishedStateSchema } from '../../administration/configuration/wished-state.ts';
import type { Crib } from '../../crib.ts';
import { defineRoute, type Route } from '../route.ts';

const tag = 'configuration';
const access = 'administrator';
const example = {
  groups: { clocks: { name: 'Clocks', selectors: [{ source: 'builtin', tags: ['time'] }] } },
  policies: {
    'staff-read-clocks': { matchers: [{ path: 'realm_access.roles', operator: 'contains', value: 'staff' }], groups: ['clocks'] },
  },
  tests: [{ name: 'Staff read clocks', claims: { realm_access: { roles: ['staff'] } }, can: ['builtin:current_time'] }],
};

/** [SRC-6] Configuration as code: how everything should be, in one document. */
export function configurationRoutes({ crib }: { crib: Crib }): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/config/plan',
      operationId: 'planConfiguration',
      summary: 'Says what is not as a document wishes, and changes nothing',
      description:
        'Only what was made from such a document before is deleted when it is no longer in it. Nothing is started or connected to; the tests are run against the state as it would be.',
      tag,
      access,
      body: wishedStateSchema,
      example,
      responses: { 200: { description: 'The changes that would be made', schema: configPlanSchema } },
      errors: ['CONFLICT'],
      handle: ({ body }) => crib.configuration.plan(body),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/config/apply',
      operationId: 'applyConfiguration',
      summary: 'Makes sources, groups and policies what a document wishes',
      description: 'Refused as a whole while one of its tests fails. Asked a second time, it does nothing.',
      tag,
      access,
      query: z.strictObject({
        fingerprint: z
          .string()
          .min(1)
          .max(64)
          .optional()
          .describe('Of the plan that was seen; refused where another one would be made now'),
      }),
      body: wishedStateSchema,
      example,
      responses: { 200: { description: 'The changes that were made, and those that failed', schema: appliedConfigSchema } },
      errors: ['CONFLICT'],
      handle: ({ principal, body, query }) => crib.configuration.apply(principal, body, query),
    }),
  ];
}
