import * as client from 'openid-client';
import { CribError } from '../model/crib-error.ts';
import type { GuardedFetch } from '../net/guarded-fetch.ts';
import type { LoginBridgeConfig } from './bridge-config.ts';
import type { ClientProof } from './client-secret.ts';
import { LoginRefused, type ProviderTokens, type SignIn } from './provider-tokens.ts';

/** What has to come back with the person, from the same provider. */
export interface BegunSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Somebody who has just signed in. */
export interface SignedIn {
  readonly tokens: ProviderTokens;
  /** As the ID token says. */
  readonly subject: string;
  readonly session: string | undefined;
}

export interface CompanySignIn extends SignIn {
  /** Where the browser goes, and what to keep until it comes back. */
  begin(): Promise<{ url: string; begun: BegunSignIn }>;
  /** `returned` is the address with which the browser has come back. Throws where the answer is not what was asked for. */
  finish(begun: BegunSignIn, returned: URL): Promise<SignedIn>;
}

interface CompanySignInInput {
  config: LoginBridgeConfig;
  issuer: string;
  allowInsecure: boolean;
  proof: ClientProof;
  /** Where the provider sends browsers back to. */
  callback: string;
  request: GuardedFetch;
  now: () => number;
}

/** Refusals of a refresh that say something of the login, and not of Toolcrib or of the provider's condition. */
const refusals = new Set(['invalid_grant', 'interaction_required', 'login_required', 'consent_required', 'access_denied']);

/** [LOGIN-3] [LOGIN-4] The company's OIDC provider: code with PKCE, state, nonce, and the `iss` of the answer where the provider sends one. */
export function createCompanySignIn(input: CompanySignInInput): CompanySignIn {
  const { config, issuer, allowInsecure, proof, callback, request, now } = input;
  let discovered: Promise<client.Configuration> | undefined;

  /** Read when it is first needed, and again where that failed: a provider that is down does not prevent a start. */
  function provider(): Promise<client.Configuration> {
    discovered ??= client
      .discovery(new URL(issuer), config.client_id, undefined, authentication(proof), {
        [client.customFetch]: (url, init) => request(url, init as RequestInit),
        execute: allowInsecure ? [client.allowInsecureRequests] : [],
      })
      .catch((cause: unknown) => {
        discovered = undefined;
        throw new CribError('SERVICE_UNAVAILABLE', 'The identity provider cannot be reached: try again later', { cause });
      });
    return discovered;
  }

  function tokensOf(answer: client.TokenEndpointResponse & client.TokenEndpointResponseHelpers, before?: ProviderTokens): ProviderTokens {
    const { access_token, refresh_token = before?.refresh_token, id_token = before?.id_token } = answer;
    const seconds = answer.expiresIn();
    return {
      access_token,
      ...(refresh_token === undefined ? {} : { refresh_token }),
      ...(id_token === undefined ? {} : { id_token }),
      obtained_at: now(),
      ...(seconds === undefined ? {} : { expires_at: now() + seconds * 1000 }),
    };
  }

  return {
    async begin() {
      const verifier = client.randomPKCECodeVerifier();
      const begun = { state: client.randomState(), nonce: client.randomNonce(), verifier };
      const url = client.buildAuthorizationUrl(await provider(), {
        ...config.parameters,
        redirect_uri: callback,
        scope: (config.scopes ?? ['openid']).join(' '),
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, begun };
    },

    async finish({ state, nonce, verifier }, returned) {
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
      const answer = await client.authorizationCodeGrant(await provider(), returned, checks);
      const claims = answer.claims();
      if (claims === undefined) throw new CribError('UNAUTHENTICATED', 'The identity provider sent no ID token');
      const session = typeof claims['sid'] === 'string' ? claims['sid'].slice(0, 512) : undefined;
      return { tokens: tokensOf(answer), subject: claims.sub, session };
    },

    async renew(tokens) {
      try {
        return tokensOf(await client.refreshTokenGrant(await provider(), tokens.refresh_token ?? ''), tokens);
      } catch (error) {
        if (error instanceof client.ResponseBodyError && refusals.has(error.error)) throw new LoginRefused(error.error, { cause: error });
        throw error;
      }
    },
  };
}

function authentication(proof: ClientProof): client.ClientAuth {
  if (proof.kind === 'secret') return client.ClientSecretBasic(proof.secret);
  if (proof.kind === 'key') return client.PrivateKeyJwt(proof.kid === undefined ? proof.key : { key: proof.key, kid: proof.kid });
  return client.None();
}
