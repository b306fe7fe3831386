import { z } from 'zod';

const clientSchema = z.strictObject({
  client_id: z.string(),
  client_secret: z.string().optional(),
  token_endpoint_auth_method: z.string().optional(),
});
export type OAuthClient = z.infer<typeof clientSchema>;

/** Of what an authorization server says of itself, only what is needed later: it may say whatever it likes, at any length. */
const metadataSchema = z.strictObject({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  revocation_endpoint: z.string().optional(),
  response_types_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
});

/** Which authorization server it is about, and what the tokens are for (RFC 8707). */
const serverSchema = z.strictObject({
  authorization_server: z.string(),
  /** RFC 8414; undefined for a server that has none, and whose addresses are then the usual ones. */
  metadata: metadataSchema.optional(),
  resource: z.string().optional(),
});
export type AuthorizationServer = z.infer<typeof serverSchema>;

const grantSchema = z.strictObject({
  /** Another one for each authorization, and the same after a refresh. */
  id: z.string(),
  /** Whom the tokens may be sent to. */
  audience: z.string(),
  server: serverSchema,
  client: clientSchema,
  /** Verbatim, as they were given. */
  tokens: z.looseObject({
    access_token: z.string().regex(/^[\x21-\x7e]{1,65536}$/),
    token_type: z.string(),
    refresh_token: z.string().optional(),
    scope: z.string().optional(),
  }),
  obtained_at: z.int(),
  expires_at: z.int().nullable(),
  /** What was asked for, which an authorization server need not repeat. */
  scope: z.string().optional(),
  dpop_key: z.record(z.string(), z.unknown()).optional(),
});
export type Grant = z.infer<typeof grantSchema>;

/** An authorization that was begun: the user is at the authorization server. */
const pendingSchema = grantSchema.pick({ audience: true, server: true, client: true, scope: true, dpop_key: true }).extend({
  verifier: z.string(),
  redirect_uri: z.string(),
  /** Who began it, as people call them: the page at the end says for whom it was. */
  begun_by: z.string(),
  /** The same as the record has it: nobody else may redeem it. */
  by: z.strictObject({
    actor: z.string(),
    client: z.string().nullable(),
    address: z.string().nullable().optional(),
    actor_name: z.string().nullable().optional(),
  }),
  loopback_port: z.int().optional(),
  /** What the browser came back with, until the one who began it redeems it. */
  parked: z.strictObject({ code: z.string(), iss: z.string().optional(), redemption_hash: z.string() }).optional(),
});
export type PendingAuthorization = z.infer<typeof pendingSchema>;

/** What a connection has sealed in it. */
export const connectionContentSchema = z.strictObject({
  /** A client that registered itself, good for one issuer and one redirect address. */
  registration: z.strictObject({ issuer: z.string(), redirect_uri: z.string(), client: clientSchema }).optional(),
  pending: pendingSchema.optional(),
  grant: grantSchema.optional(),
  /** Who made it, as people call them. */
  made_by: z.string().optional(),
  /** What the server has asked for beyond what was granted. */
  wanted_scope: z.string().optional(),
});

/** What is kept of a client or of metadata. */
export const keptClient = (client: object): OAuthClient => clientSchema.strip().parse(client);
export const keptMetadata = (metadata: object): AuthorizationServer['metadata'] => metadataSchema.strip().parse(metadata);
export type ConnectionContent = z.infer<typeof connectionContentSchema>;
