import { z } from 'zod';
import { stampFields } from '../../model/read-back.ts';
import { mcpRegistrationSchema } from '../mcp/registration/forms.ts';
import { openApiFormSchema } from '../openapi/registration/openapi-form.ts';
import { workflowFormSchema } from '../workflow/registration/workflow-form.ts';
import { wrongType } from './source-form.ts';

const { managed_by, created_at, updated_at } = stampFields;
const seen = z.unknown().optional().describe('As it was seen; ignored');

/** What the server has only seen. It changes by itself. */
export const seenFields = {
  status: seen,
  health: seen,
  breaker: seen,
  server: seen,
  import: seen,
  waiting: seen,
  outdated_secrets: seen,
};

/** [SRC-2] What an answer has beside the registration, so that it can be sent back as it is. */
const readBackFields = {
  definition: z.looseObject({}).nullish().describe('What the registration comes to; not to be changed by itself'),
  ...seenFields,
  managed_by,
  created_at,
  updated_at,
};

export const replacedMcpSchema = mcpRegistrationSchema.extend(readBackFields).meta({
  required: ['name'],
  description: 'An MCP server: remote, in a plugin directory, or described by its package',
});

/** The body of `PUT /api/sources/{id}`: a registration, alone or within what `GET` answers. */
export const replacedSourceFormSchema = z.discriminatedUnion(
  'source_type',
  [
    replacedMcpSchema,
    openApiFormSchema.extend(readBackFields).meta({
      required: ['name', 'source_type', 'openapi'],
      description: 'A service that an OpenAPI document describes',
    }),
    workflowFormSchema.extend(readBackFields).meta({
      required: ['name', 'source_type', 'workflow'],
      description: 'Workflows that an Arazzo document describes',
    }),
    z
      .strictObject({
        source_type: z.literal('builtin'),
        id: stampFields.id,
        name: z.string().max(200),
        namespace: z.string().max(100),
        enabled: z.boolean(),
        ...readBackFields,
      })
      .describe('The built-in tools, which cannot be changed: only as they are'),
  ],
  wrongType,
);
