import { notConnected, type ConnectionOwner } from '../../identity/oauth/connection-owner.ts';
import type { ConnectionTokens } from '../../identity/oauth/connection-tokens.ts';
import { sentToken, type UpstreamTokens } from './upstream-credential.ts';

/** [MCP-12] The tokens from the OAuth connection of a user, or of the source itself. */
export function connectionTokens(connectionOwner: ConnectionOwner, tokens: ConnectionTokens): UpstreamTokens {
  return {
    get: () => tokens.get(connectionOwner),
    async refused(challenge) {
      const { status, wwwAuthenticate, url, dpopNonce } = challenge;
      const { dpop } = await tokens.get(connectionOwner);
      // RFC 9449 §9: make the proof again, with the server's nonce.
      if (dpop !== undefined && dpopNonce !== '' && dpop.nonceFor(url) !== dpopNonce) {
        dpop.rememberNonce(url, dpopNonce);
        if (/error="?use_dpop_nonce/.test(wwwAuthenticate)) return true;
      }
      if (status === 401) return tokens.refused(connectionOwner, sentToken(challenge));
      // RFC 6750 §3.1: the user has not granted enough scopes. A refresh cannot add any, so the user is asked.
      if (!/error="?insufficient_scope/.test(wwwAuthenticate)) return false;
      if (await tokens.insufficient(connectionOwner, /\bscope="([^"]*)"/.exec(wwwAuthenticate)?.[1])) {
        throw notConnected(connectionOwner, 'does not allow this yet', 403);
      }
      return false;
    },
  };
}
