import { z } from 'zod';
import { openApiDefinitionSchema } from '../openapi-definition.ts';
import { allowInsecureField, handlingFields, namingFields } from '../../registration/common-fields.ts';
import { documentFields } from '../../registration/document-form.ts';
import { credentialInputSchema, valueInputSchema, valuesSchema } from '../../registration/value-input.ts';

const { origins, server_variables, external_refs, async_poll } = openApiDefinitionSchema.shape;

/** [SRC-5] The body of `POST /api/sources` for a service that an OpenAPI document describes. */
export const openApiFormSchema = z
  .strictObject({
    ...namingFields,
    source_type: z.literal('openapi'),
    openapi: z.strictObject({
      ...documentFields,
      server_url: z.string().max(2048).optional().describe('The address of the service; replaces all servers in the document'),
      origins: origins
        .unwrap()
        .optional()
        .describe(
          'The origins in the document that may receive the credential; tools at other origins are left out. Needed if the document names several',
        ),
      server_variables: server_variables.unwrap().optional().describe("Values for variables in the document's server addresses"),
      external_refs: external_refs
        .unwrap()
        .optional()
        .describe(
          'Prefixes of the addresses that the document may refer to, absolute or relative to the document; by default it may refer only to itself',
        ),
      async_poll: async_poll.unwrap().optional().describe('How to poll long-running operations, by tool name'),
    }),
    headers: valuesSchema(valueInputSchema).optional().describe('Sent with every request to the service'),
    credential: credentialInputSchema.optional(),
    discovery_credential: credentialInputSchema
      .optional()
      .describe('Credentials for fetching a protected document; none by default. `credential` is never sent for that'),
    allow_insecure: allowInsecureField,
    ...handlingFields,
  })
  .meta({
    required: ['name', 'source_type', 'openapi'],
    description: 'A service that an OpenAPI document or a UTCP manual describes: each operation is a tool',
  });

export type OpenApiForm = z.infer<typeof openApiFormSchema>;
/** The form before defaults are applied, as a person or a file writes it. */
export type OpenApiFormInput = z.input<typeof openApiFormSchema>;
