import { z } from 'zod';

/** [LOGIN-4] What the company's provider gave for one login. It is stored sealed only. */
export const providerTokensSchema = z.strictObject({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).optional(),
  id_token: z.string().min(1).optional(),
  /** Of the access token, where the provider says so; its own `exp` is looked at in any case. */
  expires_at: z.number().optional(),
  obtained_at: z.number(),
  /** In development: who was chosen. */
  user: z.string().optional(),
});
export type ProviderTokens = z.infer<typeof providerTokensSchema>;

/** The provider says that the login has ended, and will say nothing else however often it is asked. */
export class LoginRefused extends Error {
  override name = 'LoginRefused';
}

/** Who signs people in, and goes on vouching for them. */
export interface SignIn {
  /** New tokens. Throws `LoginRefused` where there are none to be had any more. */
  renew(tokens: ProviderTokens): Promise<ProviderTokens>;
}
