/** The identity of a source itself, whoever calls. */
export interface ServiceIdentity {
  /** Without one, the server says where it is. */
  tokenUrl: string | undefined;
  serverUrl: string | undefined;
  clientId: string;
  clientSecret?: string | undefined;
  /** RFC 7523 §2.2: a signature in place of the secret. */
  privateKey?: string | undefined;
  algorithm?: string | undefined;
  /** RFC 7523 §2.1: a JWT that says who we are, in place of the client's own rights. */
  assertion?: string | undefined;
  identityProvider?: { token_url: string; client_id: string } | undefined;
  scope?: string | undefined;
  allowInsecure: boolean;
}
