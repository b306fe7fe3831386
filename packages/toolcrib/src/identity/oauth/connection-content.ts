import { z } from 'zod';

const clientSchema = z.strictObject({
  client_id: z.string(),
  client_secret: z.string().optional(),
  token_endpoint_auth_method: z.string().optional(),
});
export type OAuthClient = z.infer<typeof clientSchema>;

/** The part of an authorization server's metadata that is needed later: the whole may be of any length. */
const metadataSchema = z.strictObject({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  revocation_endpoint: z.string().optional(),
  response_types_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
});

/** The authorization server, and the resource that the tokens are for (RFC 8707). */
const serverSchema = z.strictObject({
  authorization_server: z.string(),
  /** RFC 8414; undefined for a server without metadata, which has its endpoints at the default addresses. */
  metadata: metadataSchema.optional(),
  resource: z.string().optional(),
});
export type AuthorizationServer = z.infer<typeof serverSchema>;

const grantSchema = z.strictObject({
  /** New with each authorization; a refresh keeps it. */
  id: z.string(),
  /** The server that the tokens may be sent to. */
  audience: z.string(),
  server: serverSchema,
  client: clientSchema,
  /** Verbatim. */
  tokens: z.looseObject({
    access_token: z.string().regex(/^[\x21-\x7e]{1,65536}$/),
    token_type: z.string(),
    refresh_token: z.string().optional(),
    scope: z.string().optional(),
  }),
  obtained_at: z.int(),
  expires_at: z.int().nullable(),
  /** The scope that was requested, which an authorization server need not repeat. */
  scope: z.string().optional(),
  dpop_key: z.record(z.string(), z.unknown()).optional(),
});
export type Grant = z.infer<typeof grantSchema>;

/** An authorization in progress: the user is at the authorization server. */
const pendingSchema = grantSchema.pick({ audience: true, server: true, client: true, scope: true, dpop_key: true }).extend({
  verifier: z.string(),
  redirect_uri: z.string(),
  /** The display name of the user who began it: the last page says for whom it was. */
  begun_by: z.string(),
  /** The same user as the record names them: nobody else may redeem it. */
  by: z.strictObject({
    actor: z.string(),
    client: z.string().nullable(),
    address: z.string().nullable().optional(),
    actor_name: z.string().nullable().optional(),
  }),
  loopback_port: z.int().optional(),
  /** The answer that the browser came back with, until the user who began it redeems it. */
  parked: z.strictObject({ code: z.string(), iss: z.string().optional(), redemption_hash: z.string() }).optional(),
});
export type PendingAuthorization = z.infer<typeof pendingSchema>;

/** The sealed content of a connection. */
export const connectionContentSchema = z.strictObject({
  /** A client that registered itself, valid for one issuer and one redirect address. */
  registration: z.strictObject({ issuer: z.string(), redirect_uri: z.string(), client: clientSchema }).optional(),
  pending: pendingSchema.optional(),
  grant: grantSchema.optional(),
  /** The display name of the user who made it. */
  made_by: z.string().optional(),
  /** The scope that the server has asked for beyond what was granted. */
  wanted_scope: z.string().optional(),
});

/** The part of a client or of metadata that is kept. */
export const keptClient = (client: object): OAuthClient => clientSchema.strip().parse(client);
export const keptMetadata = (metadata: object): AuthorizationServer['metadata'] => metadataSchema.strip().parse(metadata);
export type ConnectionContent = z.infer<typeof connectionContentSchema>;
