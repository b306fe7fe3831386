import { z } from 'zod';
import { groupInputSchema, policyInputSchema } from '../../model/policy.ts';
import { policyTestSchema } from '../../policy/policy-test.ts';
import { literalSecretsIn } from '../../sources/registration/literal-secrets.ts';
import { registrationFor } from '../../sources/registry.ts';
import { wishedSourceFormSchema } from '../../sources/source-forms.ts';

const idSchema = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'An id has up to 64 lower-case letters, digits, _ and -');
// New namespaces cannot begin with a hyphen; files may still name a source registered when they could.
const namespaceSchema = z
  .string()
  .regex(
    /^[a-z0-9-][a-z0-9_-]{0,31}$/,
    'A namespace has at most 32 lower-case letters, digits, _ and -, and begins with a letter or a digit',
  );

const wishedSourceSchema = wishedSourceFormSchema
  .superRefine((form, context) => {
    for (const path of [...literalSecretsIn(form), ...registrationFor(form.source_type).literalSecrets(form)]) {
      const message = 'is a secret: store it with `toolcrib secrets set NAME`, and write {secret_ref: NAME} or ${NAME} here';
      context.addIssue({ code: 'custom', path, message });
    }
  })
  .describe('The registration of a source; its name defaults to the namespace. Refer to secrets by name, never write them here');
export type WishedSource = z.infer<typeof wishedSourceSchema>;

/** [SRC-6] The state that a file asks for, by namespace and id, which are also the default names. */
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
  tests: z
    .array(policyTestSchema)
    .max(1000)
    .default([])
    .describe('Who must, or must not, be able to use which tools; while one fails, nothing is changed'),
});
export type WishedState = z.infer<typeof wishedStateSchema>;
