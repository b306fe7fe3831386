/** How users are authorized for one source, with everything filled in. */
export interface OAuthSettings {
  sourceId: string;
  sourceName: string;
  /** The server that the tokens are for; undefined for a local server. */
  serverUrl: string | undefined;
  /** Whether the server uses the old transport, which begins with GET. */
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

/** The server that the tokens may be sent to. A source with a new address does not take its users' tokens along. */
export function audienceOf({ serverUrl, authorizationServer }: OAuthSettings): string {
  return serverUrl === undefined ? `local ${authorizationServer ?? ''}` : new URL(serverUrl).origin;
}
