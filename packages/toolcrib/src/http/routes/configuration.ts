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
export function configurationRoutes({ configuration }: Pick<Crib, 'configuration'>): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/config/plan',
      operationId: 'planConfiguration',
      summary: 'Shows how the server differs from a configuration document, and changes nothing',
      description:
        'A source, group or policy is deleted only where an earlier document created it and this one no longer has it. Planning starts nothing and connects to nothing; the tests run against the planned state.',
      tag,
      access,
      body: wishedStateSchema,
      example,
      responses: { 200: { description: 'The changes that would be made', schema: configPlanSchema } },
      errors: ['CONFLICT'],
      handle: ({ body }) => configuration.plan(body),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/config/apply',
      operationId: 'applyConfiguration',
      summary: 'Makes sources, groups and policies match a configuration document',
      description: 'While a test of the document fails, the whole document is refused. Applying it a second time changes nothing.',
      tag,
      access,
      query: z.strictObject({
        fingerprint: z
          .string()
          .min(1)
          .max(64)
          .optional()
          .describe('The fingerprint of the plan you saw; the request is refused where the plan is a different one now'),
      }),
      body: wishedStateSchema,
      example,
      responses: { 200: { description: 'The changes that were made, and those that failed', schema: appliedConfigSchema } },
      errors: ['CONFLICT'],
      handle: ({ principal, body, query }) => configuration.apply(principal, body, query),
    }),
  ];
}
