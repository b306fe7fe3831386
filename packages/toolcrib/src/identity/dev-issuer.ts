import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { createLocalJWKSet, importJWK, SignJWT } from 'jose';
import type { JSONWebKeySet, JWTPayload } from 'jose';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import { isLoopbackHost } from '../net/is-loopback-host.ts';
import { assertionType, verifyClientAssertion } from './client-assertion.ts';
import { openDevSecret } from './dev-secret.ts';
import { openDevIssuerState } from './dev-issuer-state.ts';
import { exchangedClaims, userClaims } from './dev-claims.ts';
import { DevTokenRequest } from './dev-token-request.ts';
import { devAudiences, devUsers } from './dev-users.ts';
import type { DevUser } from './dev-users.ts';
import { issuerConfigSchema } from './issuer-config.ts';
import type { IssuerConfig } from './issuer-config.ts';
import type { KeySet } from './jwks.ts';
import { OAuthError } from './oauth-error.ts';
import { createTokenVerifier } from './verify-token.ts';

const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';
const gatewayClient = 'toolcrib-gateway';
const userClient = 'toolcrib-cli';
const userTokenSeconds = 3600;
const exchangedTokenSeconds = 120;
const longestTokenSeconds = 30 * 86_400;

interface DevTokenResponse {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  scope: string;
  issued_token_type?: string;
}

export interface DevIssuer {
  readonly users: readonly DevUser[];
  /** How to trust this issuer; give `keySet` beside it, and no request goes out to ourselves. */
  readonly config: IssuerConfig;
  readonly keySet: KeySet;
  jwks(): JSONWebKeySet;
  /** The discovery document. */
  metadata(): JsonObject;
  /** What the token endpoint does; refusals are thrown as `OAuthError`. */
  token(params: URLSearchParams | Record<string, string>, authorizationHeader?: string): Promise<DevTokenResponse>;
  mint(username: string, options?: { expiresInSeconds?: number }): Promise<string>;
  /** With what the gateway itself authenticates for a token exchange. */
  gatewayCredentials(): { client_id: string; client_secret: string };
  /** The same for whoever shows the secret by HTTP Basic. */
  gatewayCredentialsFor(authorization: string | undefined): { client_id: string; client_secret: string };
}

export interface DevIssuerOptions {
  /** Its address, such as `http://127.0.0.1:7300/dev`. */
  issuer: string;
  /** Where the key and the client secret are kept, so that tokens survive a restart. The secret of the command line is in a file beside it. */
  stateFile: string;
  now?: () => number;
}

/**
 * [ID-1] The issuer for development: real keys and real tokens, but no passwords. Whoever can read a file of the user who runs the server may
 * be anybody, so it exists only on loopback.
 */
export async function createDevIssuer({ issuer, stateFile, now = Date.now }: DevIssuerOptions): Promise<DevIssuer> {
  if (!isLoopbackHost(URL.parse(issuer)?.hostname ?? '')) {
    throw new CribError('VALIDATION_ERROR', 'The development issuer gives tokens to everybody: it runs on a loopback address only');
  }
  const state = await openDevIssuerState(stateFile);
  const secretFile = join(dirname(stateFile), 'dev-secret');
  const secret = openDevSecret(secretFile);
  const { d: _private, ...publicKey } = state.private_key;
  const signingKey = await importJWK({ ...state.private_key }, 'ES256');
  const jwks: JSONWebKeySet = { keys: [{ ...publicKey, kid: state.kid, alg: 'ES256', use: 'sig' }] };
  const keySet: KeySet = createLocalJWKSet(jwks);
  const config = issuerConfigSchema.parse({
    issuer,
    audience: gatewayClient,
    jwks_uri: `${issuer}/jwks`,
    algorithms: ['ES256'],
    token_type: 'at+jwt',
  });
  const verifier = createTokenVerifier({ issuers: [{ ...config, keySet }], fetchDocument: notNeeded, now, maxCached: 100 });
  const gatewayCredentials = Object.freeze({ client_id: gatewayClient, client_secret: state.client_secret });
  const nowSeconds = () => Math.floor(now() / 1000);

  function sign(claims: JWTPayload, expiresAt: number): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: state.kid })
      .setIssuer(issuer)
      .setJti(randomUUID())
      .setIssuedAt(nowSeconds())
      .setExpirationTime(expiresAt)
      .sign(signingKey);
  }

  async function passwordGrant(request: DevTokenRequest): Promise<DevTokenResponse> {
    const client = request.get('client_id') ?? userClient;
    if (client !== userClient) throw new OAuthError('unauthorized_client', `Only ${userClient} may use the password grant`);
    await authenticateUserClient(request);
    const username = request.require('username');
    const user = devUsers.find((candidate) => candidate.username === username);
    if (!user) throw new OAuthError('invalid_grant', `There is no such user: use ${devUsers.map((one) => one.username).join(', ')}`);
    const claims = userClaims(user, { audience: gatewayClient, client: userClient });
    const token = await sign(claims, nowSeconds() + userTokenSeconds);
    return { access_token: token, token_type: 'Bearer', expires_in: userTokenSeconds, scope: claims.scope };
  }

  /** Other users of this machine reach the endpoint too, and cannot read the file. */
  async function authenticateUserClient(request: DevTokenRequest): Promise<void> {
    try {
      const assertion = request.get('client_assertion');
      if (assertion === undefined || request.get('client_assertion_type') !== assertionType) {
        request.authenticateClient(userClient, secret);
      } else if (!isOwnEndpoint(await verifyClientAssertion(assertion, { client: userClient, secret }))) {
        throw new OAuthError('invalid_client', 'The client_assertion is meant for another server');
      }
    } catch (cause) {
      if (cause instanceof OAuthError && cause.error === 'invalid_request') throw cause;
      const how = `send client_id=${userClient} and client_secret, which is in ${secretFile}; \`toolcrib token\` does so by itself`;
      throw new OAuthError('invalid_client', `Client authentication failed: ${how}`, { cause });
    }
  }

  /** Under whichever name of this machine it was asked. */
  function isOwnEndpoint(audience: unknown): boolean {
    const [asked, own] = [URL.parse(String(audience)), new URL(`${issuer}/token`)];
    return asked !== null && isLoopbackHost(asked.hostname) && asked.port === own.port && asked.pathname === own.pathname;
  }

  /** RFC 8693 §2, with exactly one audience: a token for several upstreams could be replayed by one against another. */
  async function exchangeGrantFor(request: DevTokenRequest): Promise<DevTokenResponse> {
    request.authenticateClient(gatewayClient, state.client_secret);
    if (request.get('actor_token') !== undefined) throw new OAuthError('invalid_request', 'An actor_token is not supported');
    if (request.get('resource') !== undefined) throw new OAuthError('invalid_target', 'A resource is not supported: name an audience');
    const wanted = request.get('requested_token_type') ?? accessTokenType;
    if (request.require('subject_token_type') !== accessTokenType || wanted !== accessTokenType) {
      throw new OAuthError('invalid_request', `The only token type is ${accessTokenType}`);
    }
    const audience = request.require('audience');
    const subject = await verifySubject(request.require('subject_token'));
    const user = devUsers.find((candidate) => candidate.sub === subject.subject);
    if (!user) throw new OAuthError('invalid_request', 'The subject_token is of a user who is not here');
    if (!devAudiences.includes(audience)) throw new OAuthError('invalid_target', 'Audience not found');
    const roles = user.audiences[audience];
    if (!roles) throw new OAuthError('invalid_target', `Requested audience not available: ${audience}`);

    const expiresIn = Math.min(exchangedTokenSeconds, Math.floor(subject.expiresAt / 1000) - nowSeconds());
    if (expiresIn < 1) throw new OAuthError('invalid_request', 'The subject_token has expired');
    const claims = exchangedClaims(user, { audience, client: gatewayClient, roles });
    const token = await sign(claims, nowSeconds() + expiresIn);
    return { access_token: token, token_type: 'Bearer', expires_in: expiresIn, scope: claims.scope, issued_token_type: accessTokenType };
  }

  async function verifySubject(token: string) {
    try {
      return await verifier.verify(token);
    } catch (cause) {
      // RFC 8693 §2.2.2 asks for this code, whatever is wrong with the token.
      throw new OAuthError('invalid_request', `The subject_token is not acceptable. ${cause instanceof CribError ? cause.message : ''}`, {
        cause,
      });
    }
  }

  return {
    users: devUsers,
    config,
    keySet,
    jwks: () => structuredClone(jwks),
    metadata: () => ({
      issuer,
      jwks_uri: `${issuer}/jwks`,
      token_endpoint: `${issuer}/token`,
      grant_types_supported: ['password', exchangeGrant],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'client_secret_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['HS256'],
      // Where a client of the same user finds its secret.
      toolcrib_secret_file: secretFile,
      response_types_supported: [],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    }),
    async token(params, authorizationHeader) {
      const request = new DevTokenRequest(params, authorizationHeader);
      const grant = request.require('grant_type');
      if (grant === 'password') return passwordGrant(request);
      if (grant === exchangeGrant) return exchangeGrantFor(request);
      throw new OAuthError('unsupported_grant_type', `Use one of: password, ${exchangeGrant}`);
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
      return sign(userClaims(user, { audience: gatewayClient, client: userClient }), nowSeconds() + expiresInSeconds);
    },
    gatewayCredentials: () => gatewayCredentials,
    gatewayCredentialsFor(authorization) {
      new DevTokenRequest({}, authorization).authenticateClient(userClient, secret);
      return gatewayCredentials;
    },
  };
}

/** Its own keys are here. */
async function notNeeded(): Promise<never> {
  throw new CribError('INTERNAL', 'The development issuer fetches nothing');
}
