import { z } from 'zod';
import type { CredentialInput } from '../registration/value-input.ts';

const secret = z.string().max(65_536);

const authSchema = z.discriminatedUnion('auth_type', [
  z.object({
    auth_type: z.literal('oauth2'),
    token_url: z.string().max(2048),
    client_id: z.string().max(500),
    client_secret: secret,
    scope: z.string().max(2000).nullish(),
  }),
  z.object({
    auth_type: z.literal('api_key'),
    api_key: secret,
    var_name: z.string().max(200).default('X-Api-Key'),
    location: z.enum(['header', 'query', 'cookie']).default('header'),
  }),
  z.object({ auth_type: z.literal('basic'), username: z.string().max(500), password: secret }),
  z.object({
    auth_type: z.literal('oauth2_user'),
    access_token: secret,
    var_name: z.string().max(200).default('Authorization'),
    prefix: z.string().max(100).default('Bearer '),
  }),
]);

/** [ID-2] Converts the `auth` of a UTCP call template to a credential for HTTP. Throws an error that names the field at fault. */
export function utcpAuth(auth: unknown, field = 'auth'): CredentialInput | undefined {
  if (auth === undefined || auth === null) return undefined;
  const parsed = authSchema.safeParse(auth);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error([field, ...(issue?.path ?? [])].join('.') + `: ${issue?.message ?? 'is not valid'}`);
  }
  const { data } = parsed;
  switch (data.auth_type) {
    case 'oauth2': {
      const { token_url, client_id, client_secret, scope } = data;
      return { type: 'client_credentials', token_url, client_id, client_secret, ...(scope == null ? {} : { scope }) };
    }
    case 'api_key':
      return keyOf(data.var_name, data.location, data.api_key);
    case 'oauth2_user':
      return keyOf(data.var_name, 'header', `${data.prefix}${data.access_token}`);
    case 'basic':
      return { type: 'basic', username: data.username, password: data.password };
  }
}

/** A bearer token becomes a `bearer` credential; anything else is an API key. */
function keyOf(name: string, place: 'header' | 'query' | 'cookie', value: string): CredentialInput {
  const [, token] = (place === 'header' && name.toLowerCase() === 'authorization' && /^bearer +(\S.*)$/is.exec(value)) || [];
  return token === undefined ? { type: 'api_key', in: place, name, value } : { type: 'bearer', token };
}

/** The `auth` without its secrets, for the stored manual. */
export function withoutSecrets(auth: Record<string, unknown>): Record<string, unknown> {
  const { auth_type, var_name, location, token_url, scope } = auth;
  return { auth_type, var_name, location, token_url, scope };
}
