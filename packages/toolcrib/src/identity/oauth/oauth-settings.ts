/** How users are authorized for one source, with everything filled in. */
export interface OAuthSettings {
  sourceId: string;
  sourceName: string;
  /** The server that the tokens are for; undefined for one that is started here. */
  serverUrl: string | undefined;
  /** Whether the server is an old one that is asked with GET. */
  isLegacySse: boolean;
  authorizationServer: string | undefined;
  resource: string | undefined;
  /** Of a client that was registered by hand. */
  client: { client_id: string; client_secret?: string } | undefined;
  clientMetadataUrl: string | undefined;
  scope: string | undefined;
  skipIssuerCheck: boolean;
  dpop: boolean;
  allowInsecure: boolean;
}

/** Whom the tokens may be sent to. A source that is given another address does not take the tokens of its users along. */
export function audienceOf({ serverUrl, authorizationServer }: OAuthSettings): string {
  return serverUrl === undefined ? `local ${authorizationServer ?? ''}` : new URL(serverUrl).origin;
}
