import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  discovery,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  ResponseBodyError,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
} from 'openid-client';
import { z } from 'zod';

const claimsSchema = z.object({ preferred_username: z.string(), sid: z.string() });

/** The tokens of one user. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly idToken: string;
  /** When the access token expires, in epoch milliseconds. */
  readonly endsAt: number;
}

/** State to remember while the user is at the identity provider. */
interface Pending {
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
}

/** The session at the identity provider is over: the user has to sign in again. */
export class SignedOut extends Error {
  override name = 'SignedOut';
}

export type SignIn = Awaited<ReturnType<typeof createSignIn>>;

/** Signs users in with the authorization code flow and PKCE, as a public client without a secret. */
export async function createSignIn({ issuer, clientId }: { issuer: string; clientId: string }) {
  // Plain http only for a provider on this machine.
  const isLocal = new URL(issuer).hostname === '127.0.0.1';
  const provider = await discovery(new URL(issuer), clientId, undefined, None(), isLocal ? { execute: [allowInsecureRequests] } : {});

  return {
    /** Where to send the browser, and what to remember until it comes back. */
    async begin(redirectUri: string): Promise<{ url: URL; pending: Pending }> {
      const pending = { verifier: randomPKCECodeVerifier(), state: randomState(), nonce: randomNonce() };
      const url = buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: 'openid',
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
      });
      return { url, pending };
    },

    /** The browser came back to this address: its code can be exchanged for tokens, once, and only by the one who began. */
    async finish(callback: URL, { verifier, state, nonce }: Pending): Promise<{ tokens: Tokens; username: string; sid: string }> {
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
      const answer = await authorizationCodeGrant(provider, callback, checks);
      const claims = claimsSchema.parse(answer.claims());
      return { tokens: tokensIn(answer), username: claims.preferred_username, sid: claims.sid };
    },

    async refresh({ refreshToken, idToken }: Tokens): Promise<Tokens> {
      try {
        return tokensIn(await refreshTokenGrant(provider, refreshToken), { refreshToken, idToken });
      } catch (cause) {
        // Any other failure may be temporary: the session stays while the provider is down.
        if (!(cause instanceof ResponseBodyError) || cause.error !== 'invalid_grant') throw cause;
        throw new SignedOut('The session has ended: sign in again', { cause });
      }
    },

    /** Where to send the browser so that the session at the provider ends too. */
    endUrl: ({ idToken }: Tokens, returnTo: string): URL =>
      buildEndSessionUrl(provider, { id_token_hint: idToken, post_logout_redirect_uri: returnTo }),
  };
}

function tokensIn(
  answer: TokenEndpointResponse & TokenEndpointResponseHelpers,
  before: { refreshToken: string; idToken: string } = { refreshToken: '', idToken: '' },
): Tokens {
  return {
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token ?? before.refreshToken,
    idToken: answer.id_token ?? before.idToken,
    endsAt: Date.now() + (answer.expiresIn() ?? 0) * 1000,
  };
}
