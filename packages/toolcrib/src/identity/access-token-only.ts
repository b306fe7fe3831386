import type { JWTHeaderParameters } from 'jose';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';

/** The claims that only ID tokens have (OpenID Connect Core 1.0 §2, §3.3.2.11). */
const idTokenClaims = ['nonce', 'at_hash', 'c_hash'];

/**
 * [ID-1] Refuses tokens that the issuer has signed for another purpose. An ID token tells an application who has signed in; it travels
 * through browsers and logs, and somebody who finds one must not be able to call tools with it. RFC 9068 marks access tokens in the header;
 * other issuers have their own marks.
 */
export function refuseOtherTokens(
  { typ = 'JWT' }: Pick<JWTHeaderParameters, 'typ'>,
  payload: JsonObject,
  expected: string | undefined,
): void {
  const header = typ.toLowerCase().replace(/^application\//, '');
  // Keycloak names the kind of token in `typ`, Cognito in `token_use`.
  const mark = payload['typ'] ?? payload['token_use'];
  const said = typeof mark === 'string' ? mark.toLowerCase() : '';
  if (said === 'id' || (said === '' && header !== 'at+jwt' && idTokenClaims.some((claim) => Object.hasOwn(payload, claim)))) {
    throw new CribError('UNAUTHENTICATED', 'This is an ID token, which only says who has signed in: send the access token');
  }
  if (['refresh', 'offline', 'logout'].includes(said)) {
    throw new CribError('UNAUTHENTICATED', `This is a ${said} token: send the access token`);
  }
  if (expected === undefined && header !== 'jwt' && header !== 'at+jwt') {
    throw new CribError(
      'UNAUTHENTICATED',
      `The token is no access token: its header has the typ ${JSON.stringify(typ.slice(0, 100))}. If its issuer marks access tokens that way, the operator sets token_type`,
    );
  }
}
