import { hash } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose';
import { CribError } from '../model/crib-error.ts';
import { InboundToken } from '../model/inbound-token.ts';
import type { JsonObject } from '../model/json.ts';
import { personName } from '../model/person-name.ts';
import type { Principal } from '../model/principal.ts';
import { acceptClaims } from './accept-claims.ts';
import { refuseOtherTokens } from './access-token-only.ts';
import { explainTokenError } from './explain-token-error.ts';
import type { IssuerConfig } from './issuer-config.ts';
import { RecentMap } from '../model/recent-map.ts';
import { createTrustedIssuers, type TrustedIssuer, type TrustedIssuersOptions } from './trusted-issuers.ts';

export interface TokenVerifierOptions extends TrustedIssuersOptions {
  /** How much memory verified tokens may take, about. */
  maxBytes?: number;
}

export interface TokenVerifier {
  /**
   * Returns at once for a token that was verified recently, and a promise otherwise. With a `resource` (RFC 8707), tokens that are meant for
   * nothing but this resource are accepted, too.
   */
  verify(token: string, resource?: string): Principal | Promise<Principal>;
  /** The trusted issuer of that name, for those who need other tokens from it. */
  issuerOf(issuer: string): TrustedIssuer | undefined;
  /** Fetches the keys of all issuers where they are missing or getting old, so that callers need not wait and unreachable issuers are known. */
  renewKeys(): Promise<void>;
  /** The issuers whose keys could not be fetched at the last attempt. */
  unreachable(): string[];
  /** How many verified tokens are remembered with their claims. */
  readonly cached: number;
  /** How many are remembered at all. */
  readonly known: number;
}

const maxTokenLength = 16_384;
const maxSubjectLength = 1_024;
const clockToleranceSeconds = 5;
/** Tokens are verified again this often, so that keys are renewed well before they can no longer be trusted. */
const maxCacheMs = 60_000;
/** Enough for some 20,000 tokens with their claims, and for 130,000 more of which only the digest is kept. */
const usualBytes = 80_000_000;
/** The part of the memory that digests get. */
const digestsPart = 0.25;
/** What a digest takes in a map. */
const bytesPerDigest = 150;
/** The last moment a Date can hold. */
const endOfTime = 8.64e15;

/** [ID-1] Verifies the tokens callers come with. */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { now = Date.now, maxBytes = usualBytes } = options;
  const issuers = createTrustedIssuers(options);
  /** By the end of the token. */
  const verified = new RecentMap<VerifiedToken>(maxBytes * (1 - digestsPart), ({ token }) => bytesOf(token));
  /** Until when each token holds, by its digest: checking a signature takes far longer than reading the claims again. */
  const verifiedUntil = new RecentMap<number>(maxBytes * digestsPart, () => bytesPerDigest);
  const inProgress = new Map<string, Promise<Principal>>();

  async function verifyNow(token: string, resource: string | undefined): Promise<Principal> {
    const { iss: issuer, aud } = unverifiedClaims(token);
    const trusted = typeof issuer === 'string' ? issuers.get(issuer) : undefined;
    if (!trusted) {
      const cause = new errors.JWTClaimValidationFailed('unknown issuer', {}, 'iss');
      throw new CribError('UNAUTHENTICATED', 'The token comes from an unknown issuer', { cause });
    }
    const { config, keySet, algorithms } = trusted;
    const audience = resource === undefined ? config.audience : [config.audience, resource, spellingsOf(resource, aud)].flat();
    const untilNow = () => keySet.believedUntil?.() ?? Infinity;
    // Read before the key is looked up, where possible: a set that is fetched meanwhile may no longer have it.
    let believedUntil = untilNow();
    try {
      const { payload, protectedHeader } = await jwtVerify<JsonObject>(
        token,
        async (header) => {
          const key = await keySet(header);
          if (believedUntil <= now()) believedUntil = untilNow();
          return key;
        },
        {
          issuer: config.issuer,
          audience,
          algorithms,
          typ: config.token_type,
          requiredClaims: ['exp', 'sub'],
          clockTolerance: clockToleranceSeconds,
          currentDate: new Date(now()),
        },
      );
      refuseOtherTokens(protectedHeader, payload, config.token_type);
      const digest = digestOf(token);
      const principal = principalOf(config, payload, new InboundToken(token, digest));
      const until = Math.min(principal.expiresAt, believedUntil, now() + maxCacheMs);
      if (until > now()) {
        verified.set(endOf(token), { token, principal, until, isOurs: isMeantFor(config, payload) });
        verifiedUntil.set(digest, until);
      }
      return principal;
    } catch (error) {
      throw explainTokenError(error, resource === undefined ? config : { ...config, audience: [config.audience, resource].flat() });
    }
  }

  /** A token whose claims were forgotten, while it is still known that it holds. */
  function recall(token: string): VerifiedToken | undefined {
    const digest = digestOf(token);
    const until = verifiedUntil.get(digest);
    if (until === undefined) return undefined;
    const payload = decodeJwt<JsonObject>(token);
    const trusted = until <= now() || payload.iss === undefined ? undefined : issuers.get(payload.iss);
    if (trusted === undefined) {
      verifiedUntil.delete(digest);
      return undefined;
    }
    const principal = principalOf(trusted.config, payload, new InboundToken(token, digest));
    const recalled = { token, principal, until, isOurs: isMeantFor(trusted.config, payload) };
    verified.set(endOf(token), recalled);
    return recalled;
  }

  return {
    issuerOf: (issuer) => issuers.get(issuer),
    async renewKeys() {
      await Promise.all([...issuers.values()].map(async ({ keySet }) => keySet.renew?.()));
    },
    unreachable: () => [...issuers].flatMap(([issuer, { keySet }]) => (keySet.unreachable?.() === true ? [issuer] : [])),
    get cached() {
      return verified.size;
    },
    get known() {
      return verifiedUntil.size;
    },
    verify(token, resource) {
      if (token.length > maxTokenLength) {
        return Promise.reject(new CribError('UNAUTHENTICATED', `The token is longer than the ${maxTokenLength} characters allowed`));
      }
      const hit = verified.get(endOf(token));
      const isKnown = hit?.token === token && now() < hit.until;
      if (isKnown && admits(hit, resource)) return hit.principal;
      if (!isKnown && hit?.token === token) verified.delete(endOf(token));
      const purpose = resource === undefined ? token : `${resource} ${token}`;
      let running = inProgress.get(purpose);
      if (!running) {
        const recalled = isKnown ? undefined : recall(token);
        if (recalled !== undefined && admits(recalled, resource)) return recalled.principal;
        running = verifyNow(token, resource).finally(() => inProgress.delete(purpose));
        inProgress.set(purpose, running);
      }
      return running;
    },
  };
}

interface VerifiedToken {
  token: string;
  principal: Principal;
  until: number;
  /** Whether it is meant for this server as a whole. Otherwise it was accepted for a resource, and is for others to be refused. */
  isOurs: boolean;
}

function admits({ isOurs, principal }: VerifiedToken, resource: string | undefined): boolean {
  return isOurs || (resource !== undefined && spellingsOf(resource, principal.claims['aud']).length > 0);
}

function isMeantFor({ audience }: IssuerConfig, { aud }: JsonObject): boolean {
  const meant = new Set<unknown>([aud].flat());
  return [audience].flat().some((one) => meant.has(one));
}

/** The audiences that are this resource, with whatever query: the query says how an address serves, not what is protected. */
function spellingsOf(resource: string, aud: unknown): string[] {
  return [aud].flat().filter((one): one is string => typeof one === 'string' && one.split('?', 1)[0] === resource);
}

const endLength = 32;

/**
 * The end of its signature, which finds a token: hashing the whole text would take longer than the rest of the look-up. Whether it is the
 * same token is for a comparison of the whole texts to say.
 */
function endOf(token: string): string {
  return token.slice(-endLength);
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64');
}

/** The text of a token, and its claims as objects: twice as much as their text, and some for every token. */
function bytesOf(token: string): number {
  return 1000 + 2 * token.length;
}

/** What the token claims, read only to choose whose keys must prove it. */
function unverifiedClaims(token: string): JsonObject {
  try {
    decodeProtectedHeader(token);
    return decodeJwt<JsonObject>(token);
  } catch (cause) {
    throw new CribError('UNAUTHENTICATED', 'This is not a token: send a signed JWT after "Bearer"', { cause });
  }
}

function principalOf({ issuer, name_claim: nameClaim }: IssuerConfig, payload: JsonObject, token: InboundToken): Principal {
  const { sub, exp, azp, client_id: clientId } = payload;
  if (typeof sub !== 'string' || sub === '' || sub.length > maxSubjectLength) {
    throw new CribError('UNAUTHENTICATED', 'The token has no usable sub claim');
  }
  if (typeof exp !== 'number') throw new CribError('UNAUTHENTICATED', 'The token has no usable exp claim');
  const client = [azp, clientId].find((name) => typeof name === 'string') ?? null;
  return Object.freeze({
    issuer,
    subject: sub,
    name: personName(payload, nameClaim),
    // An issuer is a URL without spaces, so the subject begins after the first space.
    key: `${issuer} ${sub}`,
    client,
    claims: acceptClaims(payload),
    expiresAt: Math.min(exp * 1000, endOfTime),
    token,
  });
}
