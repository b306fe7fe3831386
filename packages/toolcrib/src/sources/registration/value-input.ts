import { z } from 'zod';
import { credentialSchemaOf } from '../../model/credential.ts';
import { namedValueSchema } from '../../model/source-definition.ts';

const maxNames = 500;

/** A value as a person writes it: the text itself, or an object that says whether it is a value or the name of a secret. */
export const valueInputSchema = z
  .union([z.string().max(65_536), namedValueSchema])
  .describe(
    'The value itself (`${NAME}` in it is filled in when the server starts), {"value": …}, or {"secret_ref": "name of a stored secret"}',
  );
export type ValueInput = z.infer<typeof valueInputSchema>;

/** The text of a value; empty if the value is the name of a secret. */
export function textOf(input: ValueInput): string {
  if (typeof input === 'string') return input;
  return 'value' in input ? input.value : '';
}

/** Named values, such as an environment or HTTP headers. */
export function valuesSchema<Value extends z.ZodType>(value: Value) {
  return z
    .record(z.string().min(1).max(200), value)
    .refine((values) => Object.keys(values).length <= maxNames, `At most ${maxNames} entries`);
}

/** [ID-2] The credential for a server, as a person writes it. */
export const credentialInputSchema = credentialSchemaOf(valueInputSchema).describe(
  'Credentials for the server; secrets are stored sealed and never shown again. `oauth`: every user connects their own account; `token_exchange`: the token of the caller is exchanged for one that the server accepts',
);
export type CredentialInput = z.infer<typeof credentialInputSchema>;
