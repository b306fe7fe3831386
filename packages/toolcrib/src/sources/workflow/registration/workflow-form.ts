import { z } from 'zod';
import { workflowDefinitionSchema } from '../workflow-definition.ts';
import { allowInsecureField, handlingFields, namingFields } from '../../registration/common-fields.ts';
import { documentFields } from '../../registration/document-form.ts';
import { credentialInputSchema } from '../../registration/value-input.ts';

const { sources } = workflowDefinitionSchema.shape;

/** [WF-1] The body of `POST /api/sources` for workflows that an Arazzo document describes. */
export const workflowFormSchema = z
  .strictObject({
    ...namingFields,
    source_type: z.literal('workflow'),
    workflow: z.strictObject({
      ...documentFields,
      sources: sources
        .unwrap()
        .optional()
        .describe(
          'The namespace of the registered source for each source description of the document; by default, the source of the same name',
        ),
    }),
    discovery_credential: credentialInputSchema.optional().describe('Credentials for fetching a protected document; none by default'),
    allow_insecure: allowInsecureField,
    ...handlingFields,
  })
  .meta({ required: ['name', 'source_type', 'workflow'], description: 'Workflows that an Arazzo document describes: each is a tool' });

export type WorkflowForm = z.infer<typeof workflowFormSchema>;
/** The form before defaults are filled in, as a person or a file gives it. */
export type WorkflowFormInput = z.input<typeof workflowFormSchema>;
