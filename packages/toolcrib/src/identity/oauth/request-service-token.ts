import {
  createPrivateKeyJwtAuth,
  discoverOAuthServerInfo,
  fetchToken,
  requestJwtAuthorizationGrant,
  selectResourceURL,
  type AuthorizationServerMetadata,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client';
import { CribError } from '../../model/crib-error.ts';
import type { Egress } from '../../net/egress.ts';
import type { GuardedFetch } from '../../net/guarded-fetch.ts';
import { isLoopbackHost } from '../../net/is-loopback-host.ts';
import type { ServiceIdentity } from '../service-identity.ts';
import { askForChallenge } from './ask-for-challenge.ts';
import { explainOAuthFailure } from './explain-oauth-failure.ts';

interface Place {
  authorizationServer: string;
  metadata: AuthorizationServerMetadata | undefined;
  resource: string | undefined;
  scope: string | undefined;
}

const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** [MCP-12] A token for the source itself, where the token endpoint must be discovered, or a signature or assertion proves who we are. */
export async function requestServiceToken(egress: Egress, asked: ServiceIdentity): Promise<{ access_token: string; expires_in?: number }> {
  const { tokenUrl, serverUrl, allowInsecure } = asked;
  const named = [tokenUrl, serverUrl, asked.identityProvider?.token_url].filter((url) => url !== undefined);
  const allowLoopback = named.some((url) => isLoopbackHost(URL.parse(url)?.hostname ?? ''));
  const fetchFn = egress.guardedFetch({ allowInsecure, allowLoopback });
  try {
    const place = await placeOf(asked, fetchFn);
    const { authorizationServer, metadata, resource, scope } = place;
    const assertion = await assertionFor(asked, place, fetchFn);
    const { access_token, expires_in } = await fetchToken(providerOf(asked, assertion), authorizationServer, {
      metadata,
      ...(resource === undefined ? {} : { resource }),
      ...(scope === undefined ? {} : { scope }),
      fetchFn,
    });
    return { access_token, ...(expires_in === undefined ? {} : { expires_in }) };
  } catch (error) {
    // [ID-5] Only the operator can fix this, never the caller.
    const failure = explainOAuthFailure(error, 'No token for this source');
    throw new CribError('SERVICE_UNAVAILABLE', failure.message, { retryable: failure.retryable, cause: failure });
  }
}

async function placeOf({ tokenUrl, serverUrl, scope }: ServiceIdentity, fetchFn: GuardedFetch): Promise<Place> {
  if (tokenUrl !== undefined) {
    const endpoint = { issuer: tokenUrl, token_endpoint: tokenUrl, authorization_endpoint: tokenUrl, response_types_supported: [] };
    return { authorizationServer: tokenUrl, metadata: endpoint, resource: undefined, scope };
  }
  if (serverUrl === undefined) throw new CribError('VALIDATION_ERROR', 'Give the token_url of the credential');
  const challenge = await askForChallenge(fetchFn, serverUrl, false);
  const { resourceMetadataUrl } = challenge;
  const found = await discoverOAuthServerInfo(serverUrl, { fetchFn, ...(resourceMetadataUrl && { resourceMetadataUrl }) });
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = found;
  // Throws where the metadata describes another server than the one that was asked.
  if (resourceMetadata !== undefined) await selectResourceURL(serverUrl, {} as OAuthClientProvider, resourceMetadata);
  return {
    authorizationServer: authorizationServerUrl,
    metadata,
    resource: resourceMetadata?.resource,
    scope: scope ?? challenge.scope ?? resourceMetadata?.scopes_supported?.join(' '),
  };
}

/** The assertion itself, or the grant that an identity provider gives for it, for exactly this authorization server. */
async function assertionFor(asked: ServiceIdentity, place: Place, fetchFn: GuardedFetch): Promise<string | undefined> {
  const { assertion, identityProvider, serverUrl } = asked;
  if (assertion === undefined || identityProvider === undefined) return assertion;
  const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
    tokenEndpoint: identityProvider.token_url,
    audience: place.metadata?.issuer ?? place.authorizationServer,
    resource: place.resource ?? serverUrl ?? '',
    idToken: assertion,
    clientId: identityProvider.client_id,
    fetchFn,
  });
  return jwtAuthGrant;
}

function providerOf(asked: ServiceIdentity, assertion: string | undefined): OAuthClientProvider {
  const { clientId, clientSecret, privateKey, algorithm = 'ES256' } = asked;
  return {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [] },
    clientInformation: () => ({ client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) }),
    tokens: () => undefined,
    saveTokens: () => undefined,
    redirectToAuthorization: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
    prepareTokenRequest: (scope) =>
      new URLSearchParams({
        ...(assertion === undefined ? { grant_type: 'client_credentials' } : { grant_type: jwtBearer, assertion }),
        ...(scope === undefined ? {} : { scope }),
      }),
    ...(privateKey === undefined
      ? {}
      : { addClientAuthentication: createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, privateKey, alg: algorithm }) }),
  };
}
