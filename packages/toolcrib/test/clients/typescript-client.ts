import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';

interface Input {
  url: string;
  redirectUri: string;
  /** Where the client is known already; otherwise it registers itself. */
  registered: StoredOAuthClientInformation | undefined;
}

/** The official TypeScript SDK with its OAuth provider, as a host would use it: what it is given is kept in memory. */
export async function connectTypeScriptClient({ url, redirectUri, registered }: Input, logIn: (url: string) => Promise<URL>) {
  let information = registered;
  let tokens: StoredOAuthTokens | undefined;
  let verifier = '';
  let asked: URL | undefined;
  let discovered: OAuthDiscoveryState | undefined;
  const authProvider: OAuthClientProvider = {
    redirectUrl: redirectUri,
    clientMetadata: { client_name: 'A TypeScript client', redirect_uris: [redirectUri] },
    state: () => 'state-of-the-client',
    clientInformation: () => information,
    saveClientInformation: (given) => void (information = given),
    tokens: () => tokens,
    saveTokens: (given) => void (tokens = given),
    redirectToAuthorization: (given) => void (asked = given),
    saveDiscoveryState: (found) => void (discovered = found),
    discoveryState: () => discovered,
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
  };
  const open = () => new StreamableHTTPClientTransport(new URL(url), { authProvider });
  const client = new Client({ name: 'typescript-sdk', version: '1.0.0' });
  const first = open();
  try {
    await client.connect(first);
    throw new Error('The client was let in without a login');
  } catch (error) {
    if (!(error instanceof UnauthorizedError) || asked === undefined) throw error;
  }
  const back = await logIn(asked.href);
  if (back.searchParams.get('state') !== 'state-of-the-client') throw new Error('The state is not that of the client');
  await first.finishAuth(back.searchParams);
  const transport = open();
  await client.connect(transport);
  return { client, transport, tokens: () => tokens, [Symbol.asyncDispose]: () => client.close() };
}
