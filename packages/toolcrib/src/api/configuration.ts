import { z } from 'zod';
import { refusalSchema } from './parts.ts';

export const plannedChangeSchema = z.strictObject({
  kind: z.enum(['source', 'group', 'policy']),
  id: z.string().describe('The namespace of a source, the id of a group or policy'),
  action: z
    .enum(['create', 'change', 'adopt', 'delete'])
    .describe('`adopt`: the object exists but was made by hand, and the file takes it over'),
  fields: z
    .array(
      z.strictObject({
        field: z.string(),
        before: z.unknown().describe('The current value; null if there is none. Secrets are `***`'),
        after: z.unknown().describe('The value that the file asks for'),
      }),
    )
    .describe('The fields that differ'),
});
export const policyTestResultSchema = z.strictObject({
  name: z.string(),
  outcome: z.enum(['passed', 'failed', 'unknown']).describe('`unknown` if the test is about sources whose tools are not known yet'),
  reasons: z.array(z.string()),
});
export const configPlanSchema = z.strictObject({
  fingerprint: z.string().describe('Identifies exactly these changes'),
  changes: z.array(plannedChangeSchema).describe('In the order they would be made; empty if the server already matches'),
  tests: z.array(policyTestResultSchema).describe('The results that the tests would have after the changes'),
});
export const appliedConfigSchema = z.strictObject({
  changes: z
    .array(
      plannedChangeSchema.extend({
        outcome: z.enum(['done', 'failed', 'not_tried']),
        error: refusalSchema.nullable().describe('Why the change failed'),
      }),
    )
    .describe('In the order they were made. After a failure, apply again to do the rest'),
  tests: z.array(policyTestResultSchema),
});
