import { auth, computeScopeUnion, type OAuthClientProvider, type OAuthDiscoveryState } from '@modelcontextprotocol/client';
import type { ChangedBy } from '../../model/event.ts';
import { checkAddress } from '../../net/check-address.ts';
import type { Egress } from '../../net/egress.ts';
import { askForChallenge } from './ask-for-challenge.ts';
import { keptClient, keptMetadata, type ConnectionContent, type PendingAuthorization } from './connection-content.ts';
import { makeDpopKey } from './dpop-key.ts';
import { explainOAuthFailure } from './explain-oauth-failure.ts';
import { fetchRules } from './fetch-rules.ts';
import { audienceOf, type OAuthSettings } from './oauth-settings.ts';

export interface BegunAuthorization {
  authorizationUrl: string;
  pending: PendingAuthorization;
  registration: ConnectionContent['registration'];
}

interface Beginning {
  egress: Egress;
  settings: OAuthSettings;
  content: ConnectionContent;
  redirectUri: string;
  state: string;
  begunBy: string;
  by: ChangedBy;
  loopbackPort?: number | undefined;
}

/**
 * [MCP-12] The first leg of the specification's flow: finds the authorization server, registers us with it, and returns the address where
 * the user decides. Everything is discovered each time, so that a source can move to another authorization server.
 */
export async function beginAuthorization(beginning: Beginning): Promise<BegunAuthorization> {
  const { egress, settings, content, redirectUri, state, begunBy, by, loopbackPort } = beginning;
  const { serverUrl, authorizationServer, resource } = settings;
  const request = egress.guardedFetch(fetchRules(settings));
  const challenge = serverUrl === undefined ? {} : await askForChallenge(request, serverUrl, settings.isLegacySse);
  const found: { url?: URL; verifier?: string; discovery?: OAuthDiscoveryState; resource?: string } = {};
  // The server may have forgotten a client that led to nothing last time, and it would fail again.
  let registration = content.pending === undefined ? content.registration : undefined;
  let client: PendingAuthorization['client'] | undefined = settings.client;
  const provider: OAuthClientProvider = {
    redirectUrl: redirectUri,
    ...(settings.clientMetadataUrl === undefined ? {} : { clientMetadataUrl: settings.clientMetadataUrl }),
    clientMetadata: { client_name: 'Toolcrib', redirect_uris: [redirectUri], grant_types: ['authorization_code', 'refresh_token'] },
    state: () => state,
    clientInformation() {
      if (settings.client !== undefined) return settings.client;
      return registration?.redirect_uri === redirectUri ? { ...registration.client, issuer: registration.issuer } : undefined;
    },
    saveClientInformation({ issuer = '', ...information }) {
      client = keptClient(information);
      if (settings.client === undefined) registration = { issuer, redirect_uri: redirectUri, client };
    },
    // The current grant stays until there is a better one.
    tokens: () => undefined,
    saveTokens: () => undefined,
    saveCodeVerifier: (verifier) => void (found.verifier = verifier),
    codeVerifier: () => found.verifier ?? '',
    redirectToAuthorization: (url) => void (found.url = url),
    saveResourceUrl: (url) => void (found.resource = url),
    saveDiscoveryState: (discovered) => void (found.discovery = discovered),
    discoveryState: () => found.discovery ?? namedServer(settings),
    ...(authorizationServer === undefined && resource === undefined
      ? {}
      : { validateResourceURL: async () => URL.parse(resource ?? serverUrl ?? '') ?? undefined }),
  };
  try {
    await auth(provider, {
      serverUrl: serverUrl ?? resource ?? authorizationServer ?? '',
      scope: computeScopeUnion(challenge.scope, settings.scope, content.wanted_scope),
      resourceMetadataUrl: challenge.resourceMetadataUrl,
      fetchFn: request,
      skipIssuerMetadataValidation: settings.skipIssuerCheck,
      forceReauthorization: true,
    });
    const { url, verifier, discovery } = found;
    client ??= registration?.client;
    if (url === undefined || verifier === undefined || discovery === undefined || client === undefined) throw new Error('It led nowhere');
    // The user's browser opens an address that was named by a server we do not control.
    const authorizationUrl = checkAddress(url, settings.allowInsecure).href;
    const scope = url.searchParams.get('scope') ?? undefined;
    return {
      authorizationUrl,
      registration,
      pending: {
        audience: audienceOf(settings),
        server: serverOf(discovery, found.resource),
        client,
        verifier,
        redirect_uri: redirectUri,
        begun_by: begunBy,
        by,
        ...(loopbackPort === undefined ? {} : { loopback_port: loopbackPort }),
        ...(scope === undefined ? {} : { scope }),
        ...(settings.dpop ? { dpop_key: await makeDpopKey() } : {}),
      },
    };
  } catch (error) {
    throw explainOAuthFailure(error, `${settings.sourceName} cannot be connected to its authorization server`);
  }
}

/** An authorization server that the registration names is not discovered. */
function namedServer({ authorizationServer, resource, serverUrl }: OAuthSettings): OAuthDiscoveryState | undefined {
  if (authorizationServer === undefined) return undefined;
  return {
    authorizationServerUrl: authorizationServer,
    resourceMetadata: { resource: resource ?? serverUrl ?? authorizationServer, authorization_servers: [authorizationServer] },
  };
}

function serverOf(discovery: OAuthDiscoveryState, resource: string | undefined): PendingAuthorization['server'] {
  const { authorizationServerUrl, authorizationServerMetadata: metadata } = discovery;
  return {
    authorization_server: authorizationServerUrl,
    ...(metadata === undefined ? {} : { metadata: keptMetadata(metadata) }),
    ...(resource === undefined ? {} : { resource }),
  };
}
