import { z } from 'zod';

const address = z.string().max(2048);
const scope = z.string().max(2000).optional().describe('Space-separated scopes');
const clientId = z.string().max(2048);

/** [ID-2] Credentials for a server: one typed choice. `value` is the form in which secrets stand in it. */
export function credentialSchemaOf<Value extends z.ZodType>(value: Value) {
  const tokenUrl = address.optional().describe("The token endpoint; without it, the server's own metadata is asked");
  return z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('none') }),
    z.strictObject({
      type: z.literal('api_key'),
      in: z.enum(['header', 'query', 'cookie']).default('header'),
      name: z.string().min(1).max(200).describe('Of the header, the query parameter or the cookie'),
      value,
    }),
    z.strictObject({
      type: z.literal('basic'),
      username: z
        .union([z.string().max(500), z.strictObject({ value: z.string().max(500), is_secret: z.boolean() }), value])
        .describe('A name, which is shown; {"value": …, "is_secret": true} or {"secret_ref": …} where the service takes a key here'),
      password: value.describe('Empty where the service has none; the user name is then kept as a secret'),
    }),
    z.strictObject({ type: z.literal('bearer'), token: value }),
    z.strictObject({
      type: z.literal('client_credentials'),
      token_url: tokenUrl,
      client_id: clientId,
      client_secret: value.optional(),
      private_key: value.optional().describe('In PEM, in place of the secret: the client proves itself with a signature (RFC 7523)'),
      algorithm: z.string().max(20).optional().describe('Of the signature; ES256 by default'),
      scope,
    }),
    z.strictObject({
      type: z.literal('jwt_bearer'),
      assertion: value.describe('A JWT that says who we are, such as one that a platform gives its workloads (RFC 7523)'),
      token_url: tokenUrl,
      client_id: clientId,
      client_secret: value.optional(),
      scope,
      identity_provider: z
        .strictObject({ token_url: address, client_id: clientId })
        .optional()
        .describe('Where the assertion, an ID token, is first exchanged for one that the authorization server of the source accepts'),
    }),
    z.strictObject({
      type: z.literal('oauth'),
      client_id: clientId.optional().describe('The id of a client that you registered by hand; without it, Toolcrib registers one'),
      client_secret: value.optional(),
      client_metadata_url: address
        .optional()
        .describe('Where a client metadata document of ours is published, used where it is understood'),
      scope,
      authorization_server: address.optional().describe('Its issuer. Required for a server that is started here; a remote server names it'),
      resource: address.optional().describe('The resource the tokens are for; the address of the server by default'),
      skip_issuer_check: z.boolean().optional().describe('For a server whose metadata names another issuer than its own (RFC 8414 §3.3)'),
      shared: z.boolean().optional().describe('One connection for everybody, made by an administrator, in place of one for each user'),
      dpop: z.boolean().optional().describe('Binds the tokens to a key of ours (RFC 9449)'),
    }),
    z.strictObject({
      type: z.literal('token_exchange'),
      audience: z.string().min(1).max(512).describe('The only audience that tokens of callers are exchanged for (RFC 8693)'),
      client_id: clientId.describe(
        'The client that exchanges tokens at the issuer of the caller, the only place their token is ever sent to',
      ),
      client_secret: value,
      scope,
    }),
    z.strictObject({ type: z.literal('caller_token') }).describe("Sends the caller's own token as it came, which the server can then use"),
  ]);
}

export type CredentialOf<Value> = z.infer<ReturnType<typeof credentialSchemaOf<z.ZodType<Value>>>>;

/** Which fields of each hold a secret, or may hold one: a user name is a plain text as often as not. */
const secretFields: Record<CredentialOf<unknown>['type'], readonly string[]> = {
  none: [],
  api_key: ['value'],
  basic: ['username', 'password'],
  bearer: ['token'],
  client_credentials: ['client_secret', 'private_key'],
  jwt_bearer: ['assertion', 'client_secret'],
  oauth: ['client_secret'],
  token_exchange: ['client_secret'],
  caller_token: [],
};

/** The same credential with every secret in it put in another form. */
export function mapSecrets<From, To>(
  credential: CredentialOf<From>,
  map: (value: From | string, field: string) => To | string,
): CredentialOf<To> {
  const given = Object.entries(credential).filter(([, value]) => value !== undefined);
  const secrets = secretFields[credential.type];
  return Object.fromEntries(
    given.map(([name, value]) => [name, secrets.includes(name) ? map(value as From, name) : value]),
  ) as CredentialOf<To>;
}

/** Whether every user speaks for themselves, so that sessions, processes and caches are never shared. */
export function isPerUser(credential: CredentialOf<unknown>): boolean {
  switch (credential.type) {
    case 'oauth':
      return credential.shared !== true;
    case 'token_exchange':
    case 'caller_token':
      return true;
    case 'none':
    case 'api_key':
    case 'basic':
    case 'bearer':
    case 'client_credentials':
    case 'jwt_bearer':
      return false;
  }
}
