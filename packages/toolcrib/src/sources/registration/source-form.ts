import { z } from 'zod';
import { mcpRegistrationSchema, type McpRegistrationInput } from '../mcp/registration/forms.ts';
import { openApiFormSchema, type OpenApiFormInput } from '../openapi/registration/openapi-form.ts';
import { workflowFormSchema, type WorkflowFormInput } from '../workflow/registration/workflow-form.ts';

/** What is said of a type that there is none of. */
export const wrongType: z.core.$ZodDiscriminatedUnionParams = {
  error: ({ code }) => (code === 'invalid_union' ? 'source_type must be mcp, openapi or workflow' : undefined),
};

/** [SRC] The body of `POST /api/sources`: by `source_type`, which is `mcp` where it is not said. */
export const sourceFormSchema = z.discriminatedUnion(
  'source_type',
  [mcpRegistrationSchema, openApiFormSchema, workflowFormSchema],
  wrongType,
);

export type SourceForm = z.infer<typeof sourceFormSchema>;
/** The same before defaults are filled in: what a person or a file says. */
export type SourceFormInput = McpRegistrationInput | OpenApiFormInput | WorkflowFormInput;
