import { randomUUID } from 'node:crypto';
import { exchangeAuthorization, OAuthError, refreshAuthorization, validateAuthorizationResponseIssuer } from '@modelcontextprotocol/client';
import { CribError } from '../../model/crib-error.ts';
import type { Egress } from '../../net/egress.ts';
import type { Grant, PendingAuthorization } from './connection-content.ts';
import { openDpopSession } from './dpop-key.ts';
import { explainOAuthFailure } from './explain-oauth-failure.ts';
import { fetchRules } from './fetch-rules.ts';
import type { OAuthSettings } from './oauth-settings.ts';

/** The answer that the browser brought back. */
export interface AuthorizationResponse {
  code?: string | undefined;
  iss?: string | undefined;
  error?: string | undefined;
}

/** The part of an answer that can be redeemed. RFC 9207: the issuer is checked before anything else in it is read. */
export function acceptedResponse(
  { server: { metadata } }: PendingAuthorization,
  { code, iss, error }: AuthorizationResponse,
): { code: string; iss?: string } {
  const issParameterSupported = metadata?.authorization_response_iss_parameter_supported === true;
  try {
    validateAuthorizationResponseIssuer({ iss, expectedIssuer: metadata?.issuer, issParameterSupported });
  } catch (cause) {
    throw explainOAuthFailure(cause, 'Nothing was connected');
  }
  if (error !== undefined || code === undefined) throw notAllowed(error);
  return { code, ...(iss === undefined ? {} : { iss }) };
}

/** The second leg: exchanges the code for tokens. */
export async function redeemCode(
  egress: Egress,
  settings: OAuthSettings,
  pending: PendingAuthorization,
  { code, iss }: { code: string; iss?: string | undefined },
  now: number,
): Promise<Grant> {
  const { audience, server, client, scope, dpop_key, verifier, redirect_uri } = pending;
  try {
    const tokens = await exchangeAuthorization(server.authorization_server, {
      ...requestOf(egress, settings, { server, client }),
      authorizationCode: code,
      iss,
      codeVerifier: verifier,
      redirectUri: redirect_uri,
      ...(dpop_key === undefined ? {} : { dpop: await openDpopSession(dpop_key) }),
    });
    return { id: randomUUID(), audience, server, client, scope, dpop_key, ...obtained(tokens, now) };
  } catch (cause) {
    throw explainOAuthFailure(cause, `${settings.sourceName} could not be connected`);
  }
}

/** Undefined where the authorization server no longer accepts the refresh token; any other failure may be temporary. */
export async function refreshGrant(egress: Egress, settings: OAuthSettings, grant: Grant, now: number): Promise<Grant | undefined> {
  const { server, dpop_key } = grant;
  try {
    const tokens = await refreshAuthorization(server.authorization_server, {
      ...requestOf(egress, settings, grant),
      refreshToken: grant.tokens.refresh_token ?? '',
      ...(dpop_key === undefined ? {} : { dpop: await openDpopSession(dpop_key) }),
    });
    // Where the server does not repeat the scope, the granted one still applies (RFC 6749 §6).
    return { ...grant, ...obtained({ scope: grant.tokens.scope, ...tokens }, now) };
  } catch (error) {
    if (error instanceof OAuthError && error.code !== 'server_error' && error.code !== 'temporarily_unavailable') return undefined;
    const failure = explainOAuthFailure(error, `The connection to ${settings.sourceName} could not be renewed`);
    throw new CribError('SERVICE_UNAVAILABLE', failure.message, { retryable: true, cause: failure });
  }
}

function requestOf(egress: Egress, settings: OAuthSettings, { server, client }: Pick<Grant, 'server' | 'client'>) {
  return {
    metadata: server.metadata,
    clientInformation: settings.client ?? client,
    fetchFn: egress.guardedFetch(fetchRules(settings)),
    ...(server.resource === undefined ? {} : { resource: server.resource }),
  };
}

function obtained(tokens: { access_token: string; token_type: string; expires_in?: number | undefined }, now: number) {
  const { expires_in: seconds } = tokens;
  const given = Object.fromEntries(Object.entries(tokens).filter(([, value]) => value !== undefined)) as Grant['tokens'];
  return { tokens: given, obtained_at: now, expires_at: seconds === undefined ? null : now + Math.round(Math.max(0, seconds) * 1000) };
}

function notAllowed(error: string | undefined): CribError {
  return error === 'access_denied'
    ? new CribError('FORBIDDEN', 'You did not allow the connection. Start again if that was a mistake')
    : new CribError('NETWORK_ERROR', 'The authorization server did not grant the connection. Start again');
}
