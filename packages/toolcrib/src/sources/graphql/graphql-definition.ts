import { z } from 'zod';
import { documentPlaceSchema } from '../../model/document-place.ts';
import { sourceDefinitionSchema } from '../../model/source-definition.ts';

/** Limits of the default selection, for calls without a selection. */
export const selectionSchema = z.strictObject({
  depth: z.int().min(0).max(6).default(2).describe('How many levels of nested objects are requested'),
  fields: z.int().min(1).max(500).default(50).describe('How many fields are requested at most'),
});

/** A GraphQL service. Its `server_url` is the endpoint. */
export const graphqlDefinitionSchema = z.strictObject({
  ...sourceDefinitionSchema.shape,
  server_url: z.string().max(2048),
  /** Where the schema is: the endpoint itself if it is read by introspection. */
  document: documentPlaceSchema,
  introspection: z.boolean().default(false),
  selection: selectionSchema.prefault({}),
});
export type GraphqlDefinition = z.infer<typeof graphqlDefinitionSchema>;
