import { decodeJwt, errors, jwtVerify, type CryptoKey } from 'jose';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import { RecentMap } from '../model/recent-map.ts';
import type { BridgeAddress } from './bridge-address.ts';
import type { BridgeKeys } from './bridge-keys.ts';
import type { LoginGrants } from './login-grants.ts';

interface VerifiedToken {
  readonly token: string;
  readonly grantId: string;
  readonly clientId: string;
  readonly audience: string;
  readonly expiresAt: number;
}

interface BridgeTokensInput {
  address: BridgeAddress;
  keys: BridgeKeys;
  grants: Pick<LoginGrants, 'principalOf'>;
  now: () => number;
}

/** [LOGIN-2] [LOGIN-4] The tokens that the bridge gives to clients, each of which stands for a token of the provider. */
export interface BridgeTokens {
  /** Whether the bridge says that it is its own; it may still be forged or over. */
  isOurs(token: string): boolean;
  /** The principal of the provider's token behind it. At once while it was looked at lately. */
  verify(token: string, resource: string): Principal | Promise<Principal>;
  /** The grant and the client of a token of ours that has not expired; undefined for anything else. */
  read(token: string): Promise<{ grantId: string; clientId: string } | undefined>;
}

const longestToken = 4096;
const endLength = 32;
const mostRemembered = 50_000;
const reloadPauseMs = 5000;
/** As for the tokens of providers: some clients log in anew when a token is refused that they believe to be good. */
const clockToleranceSeconds = 5;

export function createBridgeTokens({ address, keys, grants, now }: BridgeTokensInput): BridgeTokens {
  const { issuer } = address;
  /** By the end of the token. */
  const verified = new RecentMap<VerifiedToken>(mostRemembered);
  let reloadedAt = Number.NEGATIVE_INFINITY;

  function recalled(token: string): VerifiedToken | undefined {
    const known = verified.get(token.slice(-endLength));
    return known?.token === token ? known : undefined;
  }

  /** Another server may have made the key a moment ago. Tokens with made-up keys must not become questions to the database. */
  async function keyOf(kid: string | undefined): Promise<CryptoKey> {
    if (keys.find(kid) === undefined && now() - reloadedAt > reloadPauseMs) {
      reloadedAt = now();
      await keys.reload();
    }
    const key = keys.find(kid);
    if (key === undefined) throw new errors.JWKSNoMatchingKey();
    return key.publicKey;
  }

  async function verifyNow(token: string): Promise<VerifiedToken> {
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => keyOf(kid), {
        issuer,
        algorithms: ['ES256'],
        typ: 'at+jwt',
        requiredClaims: ['exp', 'aud', 'gid', 'client_id'],
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(now()),
      });
      const { gid, client_id: clientId, aud, exp = 0 } = payload;
      if (typeof gid !== 'string' || typeof clientId !== 'string' || typeof aud !== 'string') throw new errors.JWTInvalid();
      const found = { token, grantId: gid, clientId, audience: aud, expiresAt: (exp + clockToleranceSeconds) * 1000 };
      verified.set(token.slice(-endLength), found);
      return found;
    } catch (cause) {
      throw new CribError('UNAUTHENTICATED', reasonOf(cause), { cause });
    }
  }

  function admit({ grantId, audience, expiresAt }: VerifiedToken, resource: string): Principal | Promise<Principal> {
    if (audience !== resource) {
      const cause = new errors.JWTClaimValidationFailed('another audience', {}, 'aud', 'check_failed');
      throw new CribError('UNAUTHENTICATED', `The token is meant for ${audience} and not for ${resource}: log in at this address`, {
        cause,
      });
    }
    if (expiresAt <= now())
      throw new CribError('UNAUTHENTICATED', 'The token has expired: refresh it', { cause: new errors.JWTExpired('expired', {}) });
    return grants.principalOf(grantId);
  }

  return {
    isOurs(token) {
      if (token.length > longestToken) return false;
      if (recalled(token) !== undefined) return true;
      try {
        return decodeJwt(token).iss === issuer;
      } catch {
        return false;
      }
    },
    verify(token, resource) {
      const known = recalled(token);
      return known === undefined ? verifyNow(token).then((found) => admit(found, resource)) : admit(known, resource);
    },
    async read(token) {
      try {
        return recalled(token) ?? (await verifyNow(token));
      } catch {
        return undefined;
      }
    },
  };
}

function reasonOf(cause: unknown): string {
  if (cause instanceof errors.JWTExpired) return 'The token has expired: refresh it';
  if (cause instanceof errors.JWKSNoMatchingKey || cause instanceof errors.JWSSignatureVerificationFailed)
    return 'The token is not signed by a key of this server';
  return 'The token cannot be verified';
}
