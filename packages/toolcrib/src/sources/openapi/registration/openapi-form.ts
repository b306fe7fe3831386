import { z } from 'zod';
import { openApiDefinitionSchema } from '../../../model/openapi-definition.ts';
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
      server_url: z
        .string()
        .max(2048)
        .optional()
        .describe('Where the service is spoken to, in place of all servers that the document names'),
      origins: origins
        .unwrap()
        .optional()
        .describe(
          'Which of the origins that the document names may have the credential; tools elsewhere are left out. Needed where it names several',
        ),
      server_variables: server_variables.unwrap().optional().describe('Values for the variables in the addresses of its servers'),
      external_refs: external_refs
        .unwrap()
        .optional()
        .describe(
          'Beginnings of the addresses that the document may refer to, absolute or from where it is; none (default) lets it refer to itself alone',
        ),
      async_poll: async_poll
        .unwrap()
        .optional()
        .describe('The operations that only begin something, by the name of the tool, and how to learn what became of it'),
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
/** The same before defaults are filled in: what a person or a file says. */
export type OpenApiFormInput = z.input<typeof openApiFormSchema>;
