import type { ConnectionTokens, Speaker } from '../../identity/oauth/connection-tokens.ts';
import { notConnected } from '../../identity/oauth/connection-tokens.ts';
import { CribError } from '../../model/crib-error.ts';
import type { Redactor } from '../../secrets/redactor.ts';
import type { HttpCredentials } from './transports/streamable-http-request.ts';

/** One user's voice: whose tokens are sent, and from where they come. */
export interface SpeakAs {
  speaker: Speaker;
  tokens: ConnectionTokens;
  /** Told every token that is sent, for as long as the session lives. */
  redactor: Pick<Redactor, 'add'>;
}

/** [MCP-12] Every request bears the token that the user has at that moment. */
export function userCredentials(headers: Record<string, string>, speakAs: SpeakAs | undefined): HttpCredentials {
  if (speakAs === undefined) throw new CribError('INTERNAL', 'Nobody speaks');
  const { speaker, tokens, redactor } = speakAs;
  let last: { accessToken: string } | undefined;

  return {
    async headers({ method, url }) {
      const found = tokens.get(speaker);
      const token = found instanceof Promise ? await found : found;
      if (token.accessToken !== last?.accessToken) redactor.add(token.accessToken);
      last = token;
      const { accessToken, scheme, dpop } = token;
      const proof = scheme === 'DPoP' ? await dpop?.buildProof({ htm: method, htu: url, accessToken }) : undefined;
      return { ...headers, authorization: `${scheme} ${accessToken}`, ...(proof === undefined ? {} : { dpop: proof }) };
    },

    async onChallenge({ status, wwwAuthenticate, url, dpopNonce, sent }) {
      const accessToken = sent['authorization']?.replace(/^\S+ /, '') ?? '';
      const { dpop } = await tokens.get(speaker);
      // RFC 9449 §9: the proof is to be made again, with the server's nonce in it.
      if (dpop !== undefined && dpopNonce !== '' && dpop.nonceFor(url) !== dpopNonce) {
        dpop.rememberNonce(url, dpopNonce);
        if (/error="?use_dpop_nonce/.test(wwwAuthenticate)) return true;
      }
      if (status === 401) return tokens.refused(speaker, accessToken);
      // RFC 6750 §3.1: more is wanted than the user has granted. A refresh cannot widen it, so the user is asked.
      if (!/error="?insufficient_scope/.test(wwwAuthenticate)) return false;
      if (await tokens.insufficient(speaker, /\bscope="([^"]*)"/.exec(wwwAuthenticate)?.[1])) {
        throw notConnected(speaker, 'does not allow this yet', 403);
      }
      return false;
    },
  };
}
