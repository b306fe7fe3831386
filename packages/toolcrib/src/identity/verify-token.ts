import { hash } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { FetchDocument } from '../net/fetch-document.ts';
import { acceptClaims } from './accept-claims.ts';
import { explainTokenError } from './explain-token-error.ts';
import { signatureAlgorithms } from './issuer-config.ts';
import type { IssuerConfig } from './issuer-config.ts';
import { createKeySet } from './jwks.ts';
import type { KeySet } from './jwks.ts';
import { RecentMap } from './recent-map.ts';

/** An issuer and, where its keys are already here (our own development issuer), the keys. */
type TrustedIssuer = IssuerConfig & { keySet?: KeySet };

export interface TokenVerifierOptions {
  issuers: TrustedIssuer[];
  now?: () => number;
  maxCached?: number;
  fetchDocument?: FetchDocument;
  onFetchFailed?: (error: unknown) => void;
}

export interface TokenVerifier {
  /** Answers at once for a token that was verified lately, and with a promise otherwise. */
  verify(token: string): Principal | Promise<Principal>;
  /** How many verified tokens are remembered. */
  readonly cached: number;
}

const maxTokenLength = 16_384;
const maxSubjectLength = 1_024;
const clockToleranceSeconds = 5;
/** A withdrawn key is noticed when a token is verified again, so no result is kept longer than this. */
const maxCacheMs = 300_000;
/** The last moment a Date can hold. */
const endOfTime = 8.64e15;

/** [ID-1] Verifies the tokens callers come with. */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { now = Date.now, maxCached = 10_000, fetchDocument, onFetchFailed } = options;
  const issuers = new Map<string, { config: IssuerConfig; keySet: KeySet; algorithms: string[] }>();
  for (const { keySet, ...config } of options.issuers) {
    const { issuer, jwks_uri: jwksUri, allow_insecure: allowInsecure } = config;
    if (issuers.has(issuer)) throw new CribError('VALIDATION_ERROR', `The issuer ${issuer} is configured twice`, { field: 'issuers' });
    const algorithms = checkAlgorithms(config);
    const keys = keySet ?? createKeySet({ issuer, jwksUri, allowInsecure, now, fetchDocument, onFetchFailed });
    issuers.set(issuer, { config, keySet: keys, algorithms });
  }

  const verified = new RecentMap<{ principal: Principal; until: number }>(maxCached);
  const inProgress = new Map<string, Promise<Principal>>();

  async function verifyNow(token: string, key: string): Promise<Principal> {
    const issuer = unverifiedIssuer(token);
    const trusted = typeof issuer === 'string' ? issuers.get(issuer) : undefined;
    if (!trusted) throw new CribError('UNAUTHENTICATED', 'The token comes from an unknown issuer');
    const { config, keySet, algorithms } = trusted;
    try {
      const { payload } = await jwtVerify<JsonObject>(token, (header) => keySet(header), {
        issuer: config.issuer,
        audience: config.audience,
        algorithms,
        typ: config.token_type,
        requiredClaims: ['exp', 'sub'],
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(now()),
      });
      const principal = principalOf(config.issuer, payload);
      const until = Math.min(principal.expiresAt, now() + maxCacheMs);
      if (until > now()) verified.set(key, { principal, until });
      return principal;
    } catch (error) {
      throw explainTokenError(error, config);
    }
  }

  return {
    get cached() {
      return verified.size;
    },
    verify(token) {
      if (token.length > maxTokenLength) {
        return Promise.reject(new CribError('UNAUTHENTICATED', `The token is longer than the ${maxTokenLength} characters allowed`));
      }
      // The digest stands for the token, so that no token is kept in memory.
      const key = hash('sha256', token, 'base64');
      const hit = verified.get(key);
      if (hit) {
        if (now() < hit.until) return hit.principal;
        verified.delete(key);
      }
      let running = inProgress.get(key);
      if (!running) {
        running = verifyNow(token, key).finally(() => inProgress.delete(key));
        inProgress.set(key, running);
      }
      return running;
    },
  };
}

/** A list that was not parsed by `issuerConfigSchema` is held to the same rule. */
function checkAlgorithms({ issuer, algorithms = [...signatureAlgorithms] }: IssuerConfig): string[] {
  const allowed: readonly string[] = signatureAlgorithms;
  if (algorithms.length > 0 && algorithms.every((algorithm) => allowed.includes(algorithm))) return algorithms;
  throw new CribError('VALIDATION_ERROR', `The algorithms of ${issuer} must be among ${allowed.join(', ')}`, { field: 'algorithms' });
}

/** Whom the token claims to be from: only to choose whose keys must prove it. */
function unverifiedIssuer(token: string): unknown {
  try {
    decodeProtectedHeader(token);
    return decodeJwt(token).iss;
  } catch (cause) {
    throw new CribError('UNAUTHENTICATED', 'This is not a token: send a signed JWT after "Bearer"', { cause });
  }
}

function principalOf(issuer: string, payload: JsonObject): Principal {
  const { sub, exp, azp, client_id: clientId } = payload;
  if (typeof sub !== 'string' || sub === '' || sub.length > maxSubjectLength) {
    throw new CribError('UNAUTHENTICATED', 'The token has no usable sub claim');
  }
  if (typeof exp !== 'number') throw new CribError('UNAUTHENTICATED', 'The token has no usable exp claim');
  const client = [azp, clientId].find((name) => typeof name === 'string') ?? null;
  return Object.freeze({
    issuer,
    subject: sub,
    // An issuer is a URL without spaces, so the first space is where the subject begins.
    key: `${issuer} ${sub}`,
    client,
    claims: acceptClaims(payload),
    expiresAt: Math.min(exp * 1000, endOfTime),
  });
}
