import { z } from 'zod';
import { allowInsecureField, handlingFields, namingFields } from '../../registration/common-fields.ts';
import { documentFields } from '../../registration/document-form.ts';
import { credentialInputSchema, valueInputSchema, valuesSchema } from '../../registration/value-input.ts';
import { selectionSchema } from '../graphql-definition.ts';

/** The body of `POST /api/sources` for a GraphQL service. */
export const graphqlFormSchema = z
  .strictObject({
    ...namingFields,
    source_type: z.literal('graphql'),
    graphql: z.strictObject({
      endpoint: z.string().max(2048).describe('The address of the service, such as https://api.example.org/graphql'),
      url: documentFields.url.describe('The address of the schema: SDL, or the response to an introspection query'),
      file: documentFields.file.describe(
        'The absolute path of the schema on the machine of the server. Needs the permission to run commands',
      ),
      text: documentFields.text.describe(
        'The schema itself. A replacement without url, file and text keeps the stored schema, unless it sets introspection',
      ),
      introspection: z
        .literal(true)
        .optional()
        .describe('Reads the schema from the endpoint. This is the default if no schema is given and none is stored'),
      selection: selectionSchema
        .partial()
        .optional()
        .describe('Limits of the default selection: the fields that tools request if the caller selects none'),
    }),
    headers: valuesSchema(valueInputSchema).optional().describe('Sent with every request to the service'),
    credential: credentialInputSchema.optional(),
    discovery_credential: credentialInputSchema
      .optional()
      .describe(
        'The credential for reading the schema. By default introspection uses `credential`, unless every user has their own, and `url` is fetched without a credential',
      ),
    allow_insecure: allowInsecureField,
    ...handlingFields,
  })
  .meta({
    required: ['name', 'source_type', 'graphql'],
    description: 'A GraphQL service: each query and each mutation is a tool',
  });

export type GraphqlForm = z.infer<typeof graphqlFormSchema>;
/** The form before defaults are filled in, as a person or a file writes it. */
export type GraphqlFormInput = z.input<typeof graphqlFormSchema>;
