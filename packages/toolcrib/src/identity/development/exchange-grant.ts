import { CribError } from '../../model/crib-error.ts';
import type { TokenVerifier } from '../verify-token.ts';
import { exchangedClaims } from './dev-claims.ts';
import { gatewayClient } from './dev-clients.ts';
import type { DevSigner } from './dev-signer.ts';
import type { DevTokenRequest, DevTokenResponse } from './dev-token-request.ts';
import { devAudiences, devUsers } from './dev-users.ts';
import { OAuthError } from './oauth-error.ts';

export const exchangeGrantType = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';
const exchangedTokenSeconds = 120;

interface ExchangeGrantInput {
  /** The gateway's own. */
  clientSecret: string;
  verifier: Pick<TokenVerifier, 'verify'>;
  signer: DevSigner;
}

/** RFC 8693 §2, with exactly one audience: one upstream could replay a token for several against the others. */
export function createExchangeGrant({ clientSecret, verifier, signer }: ExchangeGrantInput) {
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

  return async (request: DevTokenRequest): Promise<DevTokenResponse> => {
    request.authenticateClient(gatewayClient, clientSecret);
    if (request.get('actor_token') !== undefined) throw new OAuthError('invalid_request', 'An actor_token is not supported');
    if (request.get('resource') !== undefined) throw new OAuthError('invalid_target', 'A resource is not supported: name an audience');
    const wanted = request.get('requested_token_type') ?? accessTokenType;
    if (request.require('subject_token_type') !== accessTokenType || wanted !== accessTokenType) {
      throw new OAuthError('invalid_request', `The only token type is ${accessTokenType}`);
    }
    const audience = request.require('audience');
    const subject = await verifySubject(request.require('subject_token'));
    const user = devUsers.find((candidate) => candidate.sub === subject.subject);
    if (!user) throw new OAuthError('invalid_request', 'The subject_token belongs to a user whom this issuer does not know');
    if (!devAudiences.includes(audience)) throw new OAuthError('invalid_target', 'Audience not found');
    const roles = user.audiences[audience];
    if (!roles) throw new OAuthError('invalid_target', `Requested audience not available: ${audience}`);

    const expiresIn = Math.min(exchangedTokenSeconds, Math.floor(subject.expiresAt / 1000) - signer.nowSeconds());
    if (expiresIn < 1) throw new OAuthError('invalid_request', 'The subject_token has expired');
    const claims = exchangedClaims(user, { audience, client: gatewayClient, roles });
    const token = await signer.sign(claims, expiresIn);
    return { access_token: token, token_type: 'Bearer', expires_in: expiresIn, scope: claims.scope, issued_token_type: accessTokenType };
  };
}
