import { z } from 'zod';
import { documentPlaceSchema } from './document-place.ts';
import { pollProfileSchema } from './poll-profile.ts';
import { sourceDefinitionSchema } from './source-definition.ts';

/** [SRC-5] A service that an OpenAPI document describes. Its `server_url` stands in for all servers that the document names. */
export const openApiDefinitionSchema = z.strictObject({
  ...sourceDefinitionSchema.shape,
  document: documentPlaceSchema,
  /** [SEC-1] Where the service is, of all places that the document names: tools elsewhere are left out. Empty: where the first import says. */
  origins: z.array(z.string().min(1).max(2048)).max(100).default([]),
  /** [OAS-4] Values for the variables in the addresses of servers. */
  server_variables: z.record(z.string().max(200), z.string().max(2048)).default({}),
  /** Beginnings of the addresses that the document may refer to; none unless told. */
  external_refs: z.array(z.string().min(1).max(2048)).max(100).default([]),
  /** [POLL-1] The operations that only begin something, by the name of the tool, and how to learn what became of it. */
  async_poll: z.record(z.string().max(512), pollProfileSchema).default({}),
});
export type OpenApiDefinition = z.infer<typeof openApiDefinitionSchema>;
