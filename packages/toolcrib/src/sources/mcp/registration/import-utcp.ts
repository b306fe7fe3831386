import { z } from 'zod';
import type { McpRegistrationInput } from './forms.ts';

const authSchema = z.discriminatedUnion('auth_type', [
  z.object({
    auth_type: z.literal('oauth2'),
    token_url: z.string().max(2048),
    client_id: z.string().max(500),
    client_secret: z.string().max(65_536),
    scope: z.string().max(2000).nullish(),
  }),
  z.object({
    auth_type: z.literal('api_key'),
    api_key: z.string().max(65_536),
    var_name: z.string().max(200).default('X-Api-Key'),
    location: z.enum(['header', 'query', 'cookie']).default('header'),
  }),
  z.object({ auth_type: z.literal('basic'), username: z.string().max(500), password: z.string().max(65_536) }),
]);

/** What the `auth` of a UTCP call template means for its HTTP servers. Throws an error that says what is wrong with it. */
export function utcpAuth(auth: unknown): Pick<McpRegistrationInput, 'credential' | 'headers'> {
  if (auth === undefined || auth === null) return {};
  const parsed = authSchema.safeParse(auth);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(['auth', ...(issue?.path ?? [])].join('.') + `: ${issue?.message ?? 'does not fit'}`);
  }
  const { data } = parsed;
  switch (data.auth_type) {
    case 'oauth2': {
      const { token_url, client_id, client_secret, scope } = data;
      return { credential: { type: 'client_credentials', token_url, client_id, client_secret, ...(scope == null ? {} : { scope }) } };
    }
    case 'api_key':
      if (data.location === 'query') throw new Error('auth.location: put the key into the url of the server, or send it as a header');
      if (data.location === 'cookie') return { headers: { Cookie: `${data.var_name}=${data.api_key}` } };
      return { headers: { [data.var_name]: data.api_key } };
    case 'basic': {
      const pair = `${data.username}:${data.password}`;
      if (pair.includes('${')) throw new Error('auth: a name and a password in ${…} cannot be encoded. Send the finished header as ${…}');
      return { headers: { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` } };
    }
  }
}
