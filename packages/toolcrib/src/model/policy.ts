import { z } from 'zod';
import { managedBySchema } from './managed-by.ts';

/** [POL-2] Where a claim is: dotted (`realm_access.roles`), a JSON Pointer (`/realm_access/roles`), or its segments (`["https://acme.io/role"]`). */
const claimPathSchema = z.union([z.string().min(1).max(512), z.array(z.string().min(1).max(512)).min(1).max(16)]);
export type ClaimPath = z.infer<typeof claimPathSchema>;

/** No null: a claim that is null counts as missing, and a missing claim fails every operator. */
const scalarSchema = z.union([z.string().max(4096), z.number(), z.boolean()]);
export type Scalar = z.infer<typeof scalarSchema>;

const path = claimPathSchema.describe('Which claim: dotted, a JSON Pointer, or a list of segments');
const regexSchema = z.string().min(1).max(1024);

/** [POL-1] One condition on the caller's claims. The value's type follows the operator. */
export const matcherSchema = z.discriminatedUnion('operator', [
  z.strictObject({ path, operator: z.enum(['equals', 'not_equals', 'contains', 'not_contains']), value: scalarSchema }),
  z.strictObject({ path, operator: z.enum(['in', 'not_in']), value: z.array(scalarSchema).min(1).max(1000) }),
  z.strictObject({ path, operator: z.literal('exists'), value: z.literal(true).optional() }),
  z.strictObject({ path, operator: z.literal('matches'), value: regexSchema.describe('RE2 syntax, matched against the whole string') }),
]);
export type Matcher = z.infer<typeof matcherSchema>;

/** A `*` glob, or an RE2 expression; both match the whole string. */
const patternSchema = z.union([z.string().min(1).max(512), z.strictObject({ regex: regexSchema })]);
export type Pattern = z.infer<typeof patternSchema>;

/** [POL-4] All conditions of one selector must hold. */
export const selectorSchema = z
  .strictObject({
    source: patternSchema.optional().describe("The source's namespace or id"),
    name: patternSchema.optional().describe("The tool's own name within its source"),
    path: patternSchema.optional().describe('The HTTP path, for tools that are HTTP operations'),
    method: patternSchema.optional().describe('The HTTP method, in capitals'),
    tags: z.array(patternSchema).min(1).max(50).optional().describe('Each must match one of the tags'),
    labels: z
      .record(z.string().min(1).max(64), patternSchema)
      .refine((labels) => Object.keys(labels).length > 0, 'Name at least one label')
      .meta({ minProperties: 1 })
      .optional()
      .describe('Each label must be there and match'),
  })
  .refine((selector) => Object.values(selector).some((condition) => condition !== undefined), {
    message: 'A selector needs at least one condition; use {"source": "*"} for every tool',
  })
  .meta({ minProperties: 1 });
export type Selector = z.infer<typeof selectorSchema>;

const idSchema = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/);
const nameSchema = z.string().trim().min(1, 'Name is required').max(200);

const toolReferencesSchema = z.array(z.string().min(1).max(512)).max(10_000).default([]);

export const groupInputSchema = z.strictObject({
  name: nameSchema,
  description: z.string().max(4000).default(''),
  selectors: z.array(selectorSchema).max(200).default([]).describe('A tool that fits any of them is in the group'),
  include: toolReferencesSchema.describe('Tools added to what the selectors chose, by id or name; kept as ids'),
  exclude: toolReferencesSchema.describe('Tools removed from the group, by id or name; kept as ids'),
});
export type GroupInput = z.infer<typeof groupInputSchema>;

export const policyInputSchema = z.strictObject({
  name: nameSchema,
  description: z.string().max(4000).default(''),
  enabled: z.boolean().default(true),
  matchers: z.array(matcherSchema).max(100).default([]).describe('All must hold; a policy without matchers grants nothing'),
  groups: z.array(idSchema).max(1000).default([]).describe('Ids of the tool groups this policy grants'),
});
export type PolicyInput = z.infer<typeof policyInputSchema>;

const storedFields = {
  id: idSchema,
  managed_by: managedBySchema,
  created_at: z.int().describe('Epoch milliseconds'),
  updated_at: z.int().describe('Epoch milliseconds'),
};

/** A named set of tools. */
export const groupSchema = groupInputSchema.extend(storedFields);
export type Group = z.infer<typeof groupSchema>;

/** Matchers over claims that grant groups. */
export const policySchema = policyInputSchema.extend(storedFields);
export type Policy = z.infer<typeof policySchema>;
