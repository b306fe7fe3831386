import { z } from 'zod';
import { refusalSchema } from './parts.ts';

export const plannedChangeSchema = z.strictObject({
  kind: z.enum(['source', 'group', 'policy']),
  id: z.string().describe('The namespace of a source, the id of a group or policy'),
  action: z
    .enum(['create', 'change', 'adopt', 'delete'])
    .describe('`adopt`: it is there already, made by somebody else, and is taken over'),
  fields: z
    .array(
      z.strictObject({
        field: z.string(),
        before: z.unknown().describe('As it is; null where it is not there. Secrets are `***`'),
        after: z.unknown().describe('As it should be'),
      }),
    )
    .describe('Those that differ'),
});
export const policyTestResultSchema = z.strictObject({
  name: z.string(),
  outcome: z.enum(['passed', 'failed', 'unknown']).describe('`unknown` where it is about tools of sources that have not shown theirs yet'),
  reasons: z.array(z.string()),
});
export const configPlanSchema = z.strictObject({
  fingerprint: z.string().describe('Names exactly these changes'),
  changes: z.array(plannedChangeSchema).describe('In the order they would be made; none where everything is as wished'),
  tests: z.array(policyTestResultSchema).describe('As they would turn out after the changes'),
});
export const appliedConfigSchema = z.strictObject({
  changes: z
    .array(
      plannedChangeSchema.extend({
        outcome: z.enum(['done', 'failed', 'not_tried']),
        error: refusalSchema.nullable().describe('Why it failed'),
      }),
    )
    .describe('In the order they were made. After a failure a second time does what is left'),
  tests: z.array(policyTestResultSchema),
});
