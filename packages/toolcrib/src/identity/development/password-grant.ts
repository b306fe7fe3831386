import { isLoopbackHost } from '../../net/is-loopback-host.ts';
import { assertionType, verifyClientAssertion } from './client-assertion.ts';
import { userClaims } from './dev-claims.ts';
import { gatewayClient, userClient } from './dev-clients.ts';
import type { DevSigner } from './dev-signer.ts';
import type { DevTokenRequest, DevTokenResponse } from './dev-token-request.ts';
import { devUsers } from './dev-users.ts';
import { OAuthError } from './oauth-error.ts';

export const userTokenSeconds = 3600;

interface PasswordGrantInput {
  issuer: string;
  /** The secret of the command line, and the file that holds it. */
  secret: string;
  secretFile: string;
  signer: DevSigner;
}

/** A token for a development user, who needs no password: the client authenticates with the secret of the command line. */
export function createPasswordGrant({ issuer, secret, secretFile, signer }: PasswordGrantInput) {
  /** Other users of this machine can reach the endpoint too, but they cannot read the file. */
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

  /** The request may have used any name of this machine. */
  function isOwnEndpoint(audience: unknown): boolean {
    const [asked, own] = [URL.parse(String(audience)), new URL(`${issuer}/token`)];
    return asked !== null && isLoopbackHost(asked.hostname) && asked.port === own.port && asked.pathname === own.pathname;
  }

  return async (request: DevTokenRequest): Promise<DevTokenResponse> => {
    const client = request.get('client_id') ?? userClient;
    if (client !== userClient) throw new OAuthError('unauthorized_client', `Only ${userClient} may use the password grant`);
    await authenticateUserClient(request);
    const username = request.require('username');
    const user = devUsers.find((candidate) => candidate.username === username);
    if (!user) throw new OAuthError('invalid_grant', `There is no such user: use ${devUsers.map((one) => one.username).join(', ')}`);
    const claims = userClaims(user, { audience: gatewayClient, client: userClient });
    const token = await signer.sign(claims, userTokenSeconds);
    return { access_token: token, token_type: 'Bearer', expires_in: userTokenSeconds, scope: claims.scope };
  };
}
