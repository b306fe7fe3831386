import { createLocalJWKSet, errors } from 'jose';
import type { CryptoKey } from 'jose';
import { CribError } from '../model/crib-error.ts';
import type { FetchDocument } from '../net/fetch-document.ts';
import { createIssuerMetadata, type IssuerMetadata } from './issuer-metadata.ts';
import { parseKeySet } from './parse-key-set.ts';

/** Finds the key a token says it is signed with. Only these two members of its header are ever looked at. */
export type KeySet = (header: { alg?: string; kid?: string }) => Promise<CryptoKey>;

export interface KeySetOptions {
  issuer: string;
  /** Where the keys are; asked of the issuer itself where it is absent. */
  jwksUri?: string;
  /** What the issuer says of itself, where others want to know it too. */
  metadata?: IssuerMetadata;
  allowInsecure?: boolean;
  maxBytes?: number;
  timeoutMs?: number;
  /** The shortest time between two fetches, whatever callers send. */
  cooldownMs?: number;
  /** After this the keys are fetched again before the next use, so that a withdrawn key is noticed. */
  maxAgeMs?: number;
  /** How much longer known keys serve while the issuer cannot be reached. */
  staleMs?: number;
  now?: () => number;
  fetchDocument: FetchDocument;
  /** Told of every failed fetch, also of those that callers do not notice because the old keys still serve. */
  onFetchFailed?: (error: unknown) => void;
}

/** Without any keys nobody can be served, so the issuer is asked again sooner than the cooldown says. */
const retryWithoutKeysMs = 5_000;

/** [ID-1] The public keys of one issuer, fetched when first needed and kept up to date. */
export function createKeySet(options: KeySetOptions): KeySet {
  const { issuer, maxBytes = 1_048_576, timeoutMs = 5_000, cooldownMs = 30_000, maxAgeMs = 600_000, staleMs = 3_600_000 } = options;
  const { now = Date.now, fetchDocument, allowInsecure = false, onFetchFailed } = options;
  const limits = { maxBytes, timeoutMs, allowInsecure };
  const { metadata = createIssuerMetadata({ issuer, fetchDocument, ...limits }) } = options;

  let jwksUri = options.jwksUri;
  let keys: { find: KeySet; fetchedAt: number } | undefined;
  let lastAttempt: { at: number; failure: CribError | undefined } | undefined;
  let inFlight: Promise<void> | undefined;

  // A clock that was set back must not freeze the key set: a time in the future counts as long ago.
  const since = (time: number) => (now() < time ? Infinity : now() - time);
  const usable = () => (keys && since(keys.fetchedAt) < maxAgeMs + staleMs ? keys.find : undefined);

  async function load(): Promise<void> {
    try {
      jwksUri ??= (await metadata.get()).jwks_uri;
      const { status, body } = await fetchDocument(jwksUri, { ...limits, accept: 'application/jwk-set+json, application/json' });
      if (status !== 200)
        throw new CribError('NETWORK_ERROR', `The key set was answered with status ${status}`, { upstreamStatus: status });
      keys = { find: createLocalJWKSet(parseKeySet(body)), fetchedAt: now() };
      lastAttempt = { at: now(), failure: undefined };
    } catch (cause) {
      // The address may be what changed, so it is asked for again next time.
      jwksUri = options.jwksUri;
      metadata.forget();
      // The reason may name internal addresses; it is for the operator, as the cause, and not for the caller.
      const failure = new CribError('SERVICE_UNAVAILABLE', `The keys of the issuer ${issuer} cannot be fetched: try again later`, {
        retryAfterMs: retryWithoutKeysMs,
        cause,
      });
      lastAttempt = { at: now(), failure };
      onFetchFailed?.(cause);
    }
  }

  /** Fetches the keys again unless that was just done; everybody who asks meanwhile waits for the same fetch. */
  function refresh(): Promise<void> {
    const pause = usable() ? cooldownMs : Math.min(cooldownMs, retryWithoutKeysMs);
    if (!inFlight && lastAttempt && since(lastAttempt.at) < pause) return Promise.resolve();
    inFlight ??= load().finally(() => (inFlight = undefined));
    return inFlight;
  }

  return async ({ alg, kid }) => {
    if (!keys || since(keys.fetchedAt) >= maxAgeMs) await refresh();
    try {
      const find = usable();
      if (find) return await find({ alg, kid });
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await refresh();
    }
    // The key may be one we could not learn of, which is no fault of the caller.
    if (lastAttempt?.failure) throw lastAttempt.failure;
    const find = usable();
    if (!find) throw new errors.JWKSNoMatchingKey();
    return find({ alg, kid });
  };
}
