import { z } from 'zod';
import { groupInputSchema, policyInputSchema } from '../../model/policy.ts';
import { policyTestSchema } from '../../policy/policy-test.ts';
import { mcpRegistrationSchema } from '../../sources/mcp/registration/forms.ts';
import { openApiFormSchema } from '../../sources/openapi/registration/openapi-form.ts';
import { wrongType } from '../../sources/registration/source-form.ts';
import { workflowFormSchema } from '../../sources/workflow/registration/workflow-form.ts';
import { literalSecrets } from './literal-secrets.ts';

const idSchema = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'An id has up to 64 lower-case letters, digits, _ and -');
// A new one cannot begin with a hyphen; files may still name a source that was registered when it could.
const namespaceSchema = z
  .string()
  .regex(
    /^[a-z0-9-][a-z0-9_-]{0,31}$/,
    'A namespace has at most 32 lower-case letters, digits, _ and -, and begins with a letter or a digit',
  );

// A file knows a source by its namespace.
const unnamed = { id: true, namespace: true } as const;
const wishedSourceSchema = z
  .discriminatedUnion(
    'source_type',
    [
      mcpRegistrationSchema.omit(unnamed).meta({ description: 'An MCP server' }),
      openApiFormSchema
        .omit(unnamed)
        .meta({ required: ['source_type', 'openapi'], description: 'A service that an OpenAPI document describes' }),
      workflowFormSchema
        .omit(unnamed)
        .meta({ required: ['source_type', 'workflow'], description: 'Workflows that an Arazzo document describes' }),
    ],
    wrongType,
  )
  .superRefine((form, context) => {
    for (const path of literalSecrets(form)) {
      const message = 'is a secret: keep it with `toolcrib secrets set NAME`, and write {secret_ref: NAME} or ${NAME} here';
      context.addIssue({ code: 'custom', path, message });
    }
  })
  .describe('A source as it is registered; its name is the namespace unless it has another. Secrets are named, never written down');
export type WishedSource = z.infer<typeof wishedSourceSchema>;

/** [SRC-6] How everything should be, as a file says it: by namespace and id. Names that are not given are those. */
export const wishedStateSchema = z.strictObject({
  sources: z.record(namespaceSchema, wishedSourceSchema).default({}).describe('Sources of tools, by namespace'),
  groups: z
    .record(idSchema, groupInputSchema.partial({ name: true }))
    .default({})
    .describe('Groups of tools, by id'),
  policies: z
    .record(idSchema, policyInputSchema.partial({ name: true }))
    .default({})
    .describe('Access policies, by id'),
  tests: z.array(policyTestSchema).max(1000).default([]).describe('Who must be able to use what; nothing is changed while one fails'),
});
export type WishedState = z.infer<typeof wishedStateSchema>;
