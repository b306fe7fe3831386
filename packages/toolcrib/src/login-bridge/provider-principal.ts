import { hash } from 'node:crypto';
import { decodeJwt, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { acceptClaims } from '../identity/accept-claims.ts';
import type { TokenVerifier } from '../identity/verify-token.ts';
import { CribError } from '../model/crib-error.ts';
import { InboundToken } from '../model/inbound-token.ts';
import type { JsonObject } from '../model/json.ts';
import { personName } from '../model/person-name.ts';
import type { Principal } from '../model/principal.ts';
import { RecentMap } from '../model/recent-map.ts';
import type { VerifyProvider } from './opened-grant.ts';
import type { ProviderTokens } from './provider-tokens.ts';

interface ProviderPrincipalInput {
  verifier: TokenVerifier;
  issuer: string;
  clientId: string;
  principalFrom: 'access_token' | 'id_token';
}

const mostRemembered = 20_000;

/** [LOGIN-4] The principal of a login: the very one that the provider's token would make if the client had come with it. */
export function createProviderPrincipals({ verifier, issuer, clientId, principalFrom }: ProviderPrincipalInput): VerifyProvider {
  if (principalFrom === 'access_token') return { verify: ({ access_token: token }) => verifier.verify(token) };
  const remembered = new RecentMap<Principal>(mostRemembered);

  /** The claims of the ID token, which is meant for us as a client, and the access token to be exchanged. */
  async function fromIdToken({ access_token, id_token = '', expires_at, obtained_at }: ProviderTokens): Promise<Principal> {
    const trusted = verifier.issuerOf(issuer);
    if (trusted === undefined || id_token === '')
      throw new CribError('UNAUTHENTICATED', 'The provider gave no ID token: is openid among the scopes?');
    const { config, keySet, algorithms } = trusted;
    const { payload } = await jwtVerify<JsonObject>(id_token, keySet as JWTVerifyGetKey, {
      issuer: config.issuer,
      audience: clientId,
      algorithms,
      requiredClaims: ['exp', 'sub'],
      // It says who signed in, once. Whether that still holds, the refresh says.
      currentDate: new Date(issuedAt(id_token) ?? obtained_at),
      clockTolerance: 60,
    }).catch((cause: unknown) => {
      throw new CribError('UNAUTHENTICATED', 'The ID token of the provider cannot be verified', { cause });
    });
    const { sub } = payload;
    if (typeof sub !== 'string' || sub === '' || sub.length > 1024)
      throw new CribError('UNAUTHENTICATED', 'The ID token has no usable sub claim');
    const principal: Principal = Object.freeze({
      issuer: config.issuer,
      subject: sub,
      name: personName(payload, config.name_claim),
      key: `${config.issuer} ${sub}`,
      client: clientId,
      claims: acceptClaims(payload),
      expiresAt: expires_at ?? obtained_at + usualTokenMs,
      token: new InboundToken(access_token, hash('sha256', access_token, 'base64')),
    });
    remembered.set(keyOf(access_token, id_token), principal);
    return principal;
  }

  return {
    verify(tokens) {
      return remembered.get(keyOf(tokens.access_token, tokens.id_token)) ?? fromIdToken(tokens);
    },
  };
}

function issuedAt(token: string): number | undefined {
  try {
    const { iat } = decodeJwt(token);
    return iat === undefined ? undefined : iat * 1000;
  } catch {
    return undefined;
  }
}

const usualTokenMs = 300_000;
const keyOf = (accessToken: string, idToken = '') => `${accessToken} ${idToken}`;
