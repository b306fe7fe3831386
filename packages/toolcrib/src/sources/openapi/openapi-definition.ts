import { z } from 'zod';
import { documentPlaceSchema } from '../../model/document-place.ts';
import { pollProfileSchema } from '../../model/poll-profile.ts';
import { sourceDefinitionSchema } from '../../model/source-definition.ts';

/** [SRC-5] A service described by an OpenAPI document. `server_url` replaces all servers in the document. */
export const openApiDefinitionSchema = z.strictObject({
  ...sourceDefinitionSchema.shape,
  document: documentPlaceSchema,
  /** [SEC-1] The origins of the service; tools at other origins in the document are left out. If empty, those of the first import. */
  origins: z.array(z.string().min(1).max(2048)).max(100).default([]),
  /** [OAS-4] Values for variables in server addresses. */
  server_variables: z.record(z.string().max(200), z.string().max(2048)).default({}),
  /** Prefixes of the addresses that the document may refer to; none by default. */
  external_refs: z.array(z.string().min(1).max(2048)).max(100).default([]),
  /** [POLL-1] How to poll long-running operations, by tool name. */
  async_poll: z.record(z.string().max(512), pollProfileSchema).default({}),
});
export type OpenApiDefinition = z.infer<typeof openApiDefinitionSchema>;
