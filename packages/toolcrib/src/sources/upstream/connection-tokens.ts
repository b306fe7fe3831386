import type { ConnectionTokens, Speaker } from '../../identity/oauth/connection-tokens.ts';
import { notConnected } from '../../identity/oauth/connection-tokens.ts';
import { sentToken, type UpstreamTokens } from './upstream-credential.ts';

/** [MCP-12] The token that the user, or the source itself, has over a connection. */
export function connectionTokens(speaker: Speaker, tokens: ConnectionTokens): UpstreamTokens {
  return {
    get: () => tokens.get(speaker),
    async refused(challenge) {
      const { status, wwwAuthenticate, url, dpopNonce } = challenge;
      const { dpop } = await tokens.get(speaker);
      // RFC 9449 §9: the proof is to be made again, with the server's nonce in it.
      if (dpop !== undefined && dpopNonce !== '' && dpop.nonceFor(url) !== dpopNonce) {
        dpop.rememberNonce(url, dpopNonce);
        if (/error="?use_dpop_nonce/.test(wwwAuthenticate)) return true;
      }
      if (status === 401) return tokens.refused(speaker, sentToken(challenge));
      // RFC 6750 §3.1: more is wanted than the user has granted. A refresh cannot widen it, so the user is asked.
      if (!/error="?insufficient_scope/.test(wwwAuthenticate)) return false;
      if (await tokens.insufficient(speaker, /\bscope="([^"]*)"/.exec(wwwAuthenticate)?.[1])) {
        throw notConnected(speaker, 'does not allow this yet', 403);
      }
      return false;
    },
  };
}
