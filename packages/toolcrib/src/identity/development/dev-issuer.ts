import { dirname, join } from 'node:path';
import { createLocalJWKSet } from 'jose';
import type { JSONWebKeySet } from 'jose';
import { CribError } from '../../model/crib-error.ts';
import type { JsonObject } from '../../model/json.ts';
import { isLoopbackHost } from '../../net/is-loopback-host.ts';
import { issuerConfigSchema } from '../issuer-config.ts';
import type { IssuerConfig } from '../issuer-config.ts';
import type { KeySet } from '../jwks.ts';
import { createTokenVerifier } from '../verify-token.ts';
import { userClaims } from './dev-claims.ts';
import { gatewayClient, userClient } from './dev-clients.ts';
import { openDevIssuerState } from './dev-issuer-state.ts';
import { openDevSecret } from './dev-secret.ts';
import { createDevSigner } from './dev-signer.ts';
import { DevTokenRequest, type DevTokenResponse } from './dev-token-request.ts';
import { devUsers } from './dev-users.ts';
import type { DevUser } from './dev-users.ts';
import { createExchangeGrant, exchangeGrantType } from './exchange-grant.ts';
import { OAuthError } from './oauth-error.ts';
import { createPasswordGrant, userTokenSeconds } from './password-grant.ts';

const longestTokenSeconds = 30 * 86_400;

export interface DevIssuer {
  readonly users: readonly DevUser[];
  /** How to trust this issuer. Given `keySet` too, the gateway sends no request to itself. */
  readonly config: IssuerConfig;
  readonly keySet: KeySet;
  jwks(): JSONWebKeySet;
  /** The discovery document. */
  metadata(): JsonObject;
  /** The token endpoint; throws `OAuthError` for a refusal. */
  token(params: URLSearchParams | Record<string, string>, authorizationHeader?: string): Promise<DevTokenResponse>;
  mint(username: string, options?: { expiresInSeconds?: number }): Promise<string>;
  /** The gateway's own, for token exchange. */
  gatewayCredentials(): { client_id: string; client_secret: string };
  /** The same, for a caller who sends the secret by HTTP Basic. */
  gatewayCredentialsFor(authorization: string | undefined): { client_id: string; client_secret: string };
}

export interface DevIssuerOptions {
  /** Its address, such as `http://127.0.0.1:7300/dev`. */
  issuer: string;
  /** Holds the key and the client secret, so that tokens survive a restart. The secret of the command line is in a file beside it. */
  stateFile: string;
  now?: () => number;
}

/**
 * [ID-1] The issuer for development: real keys and real tokens, but no passwords. Anyone who can read the files of the user who runs the
 * server can get a token as any user, so it exists only on loopback.
 */
export async function createDevIssuer({ issuer, stateFile, now = Date.now }: DevIssuerOptions): Promise<DevIssuer> {
  if (!isLoopbackHost(URL.parse(issuer)?.hostname ?? '')) {
    throw new CribError('VALIDATION_ERROR', 'The development issuer gives tokens without passwords, so it runs on a loopback address only');
  }
  const state = await openDevIssuerState(stateFile);
  const secretFile = join(dirname(stateFile), 'dev-secret');
  const secret = openDevSecret(secretFile);
  const signer = await createDevSigner(issuer, state, now);
  const keySet: KeySet = createLocalJWKSet(signer.jwks);
  const config = issuerConfigSchema.parse({
    issuer,
    audience: gatewayClient,
    jwks_uri: `${issuer}/jwks`,
    algorithms: ['ES256'],
    token_type: 'at+jwt',
  });
  const verifier = createTokenVerifier({ issuers: [{ ...config, keySet }], fetchDocument: notNeeded, now, maxBytes: 1_000_000 });
  const gatewayCredentials = Object.freeze({ client_id: gatewayClient, client_secret: state.client_secret });
  const passwordGrant = createPasswordGrant({ issuer, secret, secretFile, signer });
  const exchangeGrant = createExchangeGrant({ clientSecret: state.client_secret, verifier, signer });

  return {
    users: devUsers,
    config,
    keySet,
    jwks: () => structuredClone(signer.jwks),
    metadata: () => ({
      issuer,
      jwks_uri: `${issuer}/jwks`,
      token_endpoint: `${issuer}/token`,
      grant_types_supported: ['password', exchangeGrantType],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'client_secret_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['HS256'],
      // Tells a client of the same user where its secret is.
      toolcrib_secret_file: secretFile,
      response_types_supported: [],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    }),
    async token(params, authorizationHeader) {
      const request = new DevTokenRequest(params, authorizationHeader);
      const grant = request.require('grant_type');
      if (grant === 'password') return passwordGrant(request);
      if (grant === exchangeGrantType) return exchangeGrant(request);
      throw new OAuthError('unsupported_grant_type', `Use one of: password, ${exchangeGrantType}`);
    },
    async mint(username, { expiresInSeconds = userTokenSeconds } = {}) {
      const user = devUsers.find((candidate) => candidate.username === username);
      if (!user) {
        const names = devUsers.map((one) => one.username).join(', ');
        throw new CribError('VALIDATION_ERROR', `There is no such development user: use ${names}`, { field: 'username' });
      }
      if (!Number.isInteger(expiresInSeconds) || expiresInSeconds < 1 || expiresInSeconds > longestTokenSeconds) {
        throw new CribError('VALIDATION_ERROR', `A token lasts from 1 to ${longestTokenSeconds} seconds`, { field: 'expiresInSeconds' });
      }
      return signer.sign(userClaims(user, { audience: gatewayClient, client: userClient }), expiresInSeconds);
    },
    gatewayCredentials: () => gatewayCredentials,
    gatewayCredentialsFor(authorization) {
      new DevTokenRequest({}, authorization).authenticateClient(userClient, secret);
      return gatewayCredentials;
    },
  };
}

/** The verifier has the keys of its only issuer. */
async function notNeeded(): Promise<never> {
  throw new CribError('INTERNAL', 'The development issuer fetches nothing');
}
