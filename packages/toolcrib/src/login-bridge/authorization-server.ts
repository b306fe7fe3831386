import { errors, interactionPolicy, Provider, type ProviderContext } from 'oidc-provider';
import type { BridgeAddress } from './bridge-address.ts';
import type { BridgeTimes, FixedClient } from './bridge-config.ts';
import type { BridgeKeys } from './bridge-keys.ts';
import type { FetchClientDocument } from './client-documents.ts';
import { clientMetadata } from './client-metadata.ts';
import { errorPage } from './bridge-page.ts';
import type { RecordAdapter } from './record-adapter.ts';

/** The one scope there is: to use the door as the person. `offline_access` is accepted for clients that ask for it to get refresh tokens. */
export const bridgeScopes = ['mcp', 'offline_access'];

interface AuthorizationServerInput {
  address: BridgeAddress;
  times: BridgeTimes;
  keys: BridgeKeys;
  clients: readonly FixedClient[];
  /** Whether clients may register themselves. */
  registration: boolean;
  /** Whether clients may name a document as their id. */
  clientDocuments: boolean;
  adapterOf(model: string): RecordAdapter;
  fetchDocument: FetchClientDocument;
  /** Whether a document that is not in memory may be fetched now. */
  mayFetch(context: ProviderContext): boolean;
  onFault(error: unknown): void;
}

const daySeconds = 86_400;
const codeSeconds = 60;
export const interactionSeconds = 600;

/** [LOGIN-3] The authorization server that MCP clients see. Signing people in is not its business: each login is an interaction of ours. */
export function createAuthorizationServer(input: AuthorizationServerInput): Provider {
  const { address, times, keys, clients, adapterOf, onFault } = input;
  const { issuer } = address;
  const idle = times.idleDays * daySeconds;
  const provider = new Provider(issuer, {
    adapter: adapterOf,
    jwks: { keys: keys.all.map(({ privateJwk, kid }) => ({ ...privateJwk, kid, alg: 'ES256', use: 'sig' })) },
    cookies: cookiesOf(address, keys),
    clients: clients.map(({ client_id, name, redirect_uris }) => clientMetadata(client_id, { client_name: name, redirect_uris })),
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    clientAuthMethods: ['none'],
    scopes: bridgeScopes,
    responseTypes: ['code'],
    pkce: { required: () => true },
    discovery: discoveryOf(input),
    routes: { authorization: '/auth', token: '/token', jwks: '/jwks' },
    extraParams: {
      // Whatever is asked for, there is one thing to be had; a client that asks for nothing means it too.
      scope: ({ oidc }: ProviderContext) => void (oidc.params['scope'] = bridgeScopes.join(' ')),
      // Its page would run a script.
      response_mode: ({ oidc }: ProviderContext, value: unknown) => {
        oidc.params['response_mode'] = undefined;
        if (value !== undefined && value !== 'query') throw new errors.InvalidRequest('response_mode must be query');
      },
    },
    extraTokenClaims: (_context: ProviderContext, token: { grantId?: string }) => ({ gid: token.grantId }),
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      // The door takes bearer tokens.
      dPoP: { enabled: false },
      clientIdMetadataDocument: {
        enabled: input.clientDocuments,
        ack: 'draft-02',
        allowFetch: input.mayFetch,
        cacheDuration: { min: 60, max: 300 },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_context: ProviderContext, _client: unknown, one?: string | string[]) => one ?? address.usualResource,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: ProviderContext, resource: string) => serverOf(resource, address, times),
      },
    },
    fetch: input.fetchDocument,
    issueRefreshToken: (_context: ProviderContext, client: { grantTypeAllowed(type: string): boolean }) =>
      client.grantTypeAllowed('refresh_token'),
    expiresWithSession: () => false,
    rotateRefreshToken: true,
    // Pages of any origin may come with a code or a refresh token; neither is sent by the browser itself.
    clientBasedCORS: () => true,
    ttl: {
      AccessToken: times.accessTokenSeconds,
      AuthorizationCode: codeSeconds,
      Interaction: interactionSeconds,
      Session: interactionSeconds,
      Grant: 365 * daySeconds,
      RefreshToken: idle,
      IdToken: times.accessTokenSeconds,
    },
    interactions: { policy: alwaysAsking(), url: (_context: ProviderContext, { uid }: { uid: string }) => `${issuer}/interaction/${uid}` },
    findAccount: (_context: ProviderContext, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    renderError: (context: ProviderContext, { error, error_description: description }: { error: string; error_description?: string }) => {
      context.type = 'text/html; charset=utf-8';
      context.body = errorPage('This login cannot go on', explain(error, description));
    },
  });
  // Addresses never follow the Host header.
  Object.defineProperty(provider.OIDCContext.prototype, 'urlFor', {
    value: (name: string, options?: object) => provider.urlFor(name, options),
  });
  // The mount says what the scheme is.
  provider.proxy = true;
  // A browser that logs a second client in, perhaps as somebody else, begins anew.
  provider.on('authorization.success', ({ oidc }) => {
    if (oidc.session !== undefined) oidc.session.destroyed = true;
  });
  provider.on('server_error', (_context, error) => onFault(error));
  return provider;
}

function cookiesOf({ publicUrl }: BridgeAddress, keys: BridgeKeys) {
  const options = { httpOnly: true, sameSite: 'lax', signed: true, secure: publicUrl.startsWith('https:'), overwrite: true };
  return {
    keys: keys.all.map(({ cookieKey }) => cookieKey),
    names: { session: 'toolcrib_login_session', interaction: 'toolcrib_login', resume: 'toolcrib_login_resume' },
    short: options,
    long: options,
  };
}

function discoveryOf({ address: { issuer }, registration, clientDocuments }: AuthorizationServerInput) {
  return {
    ...(registration ? { registration_endpoint: `${issuer}/register` } : {}),
    revocation_endpoint: `${issuer}/revoke`,
    revocation_endpoint_auth_methods_supported: ['none'],
    client_id_metadata_document_supported: clientDocuments,
    service_documentation: undefined,
  };
}

/** [LOGIN-2] A token is for one address of the door, whatever its query. */
function serverOf(resource: string, address: BridgeAddress, times: BridgeTimes) {
  const audience = address.audienceOf(resource);
  if (audience === undefined) throw new errors.InvalidTarget(`There is no such address here: ${address.usualResource} or one below it`);
  const { accessTokenSeconds: accessTokenTTL } = times;
  return { scope: 'mcp', audience, accessTokenTTL, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } };
}

/** Each login asks the person, whoever has logged in before. */
function alwaysAsking() {
  const policy = interactionPolicy.base();
  const asks = ({ oidc }: ProviderContext) => oidc.result?.login === undefined;
  policy.get('login').checks.add(new interactionPolicy.Check('always', 'The person has to be asked', 'login_required', asks));
  return policy;
}

const plainly: Record<string, string> = {
  invalid_client: 'The program that sent you here is not known, or what it says about itself cannot be used.',
  invalid_redirect_uri: 'The program that sent you here wants you sent back to an address that it has not registered.',
  invalid_target: 'The program that sent you here asks for another server than this one.',
  server_error: 'Something failed inside Toolcrib. Its log says more.',
};

function explain(error: string, description = ''): string[] {
  const known = plainly[error] ?? 'The program that sent you here has made a mistake, or this page was open for too long.';
  return [
    known,
    'Go back to it and begin again. If that does not help, tell the people who make it, or who run this server:',
    `${error}: ${description}`,
  ];
}
