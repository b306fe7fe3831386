import { z } from 'zod';
import { namedValueSchema } from '../../../model/mcp-definition.ts';

const maxNames = 500;

/** A value as a person writes it: the text itself, or an object that says whether it is a value or the name of a secret. */
export const valueInputSchema = z
  .union([z.string().max(65_536), namedValueSchema])
  .describe(
    'The value itself (`${NAME}` in it is filled in when the server is started), {"value": …}, or {"secret_ref": "name of a stored secret"}',
  );
export type ValueInput = z.infer<typeof valueInputSchema>;

/** Named values, such as an environment or HTTP headers. */
export function valuesSchema<Value extends z.ZodType>(value: Value) {
  return z
    .record(z.string().min(1).max(200), value)
    .refine((values) => Object.keys(values).length <= maxNames, `At most ${maxNames} entries`);
}

/** [ID-2] With what we speak to a remote server, as a person writes it. */
export const credentialInputSchema = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('none') }),
    z.strictObject({ type: z.literal('bearer'), token: valueInputSchema }),
    z.strictObject({
      type: z.literal('client_credentials'),
      token_url: z.string().max(2048).describe('The token endpoint of the authorization server'),
      client_id: z.string().max(500),
      client_secret: valueInputSchema,
      scope: z.string().max(2000).optional().describe('Space-separated scopes'),
    }),
  ])
  .describe('With what a remote server is spoken to; its secrets are stored sealed and never shown again');
export type CredentialInput = z.infer<typeof credentialInputSchema>;
