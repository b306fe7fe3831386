import { createLocalJWKSet, errors } from 'jose';
import type { CryptoKey } from 'jose';
import { CribError } from '../model/crib-error.ts';
import type { FetchDocument } from '../net/fetch-document.ts';
import { createIssuerMetadata, type IssuerMetadata } from './issuer-metadata.ts';
import { parseKeySet } from './parse-key-set.ts';

export interface KeySet {
  /** Finds the key that signed a token, as its header says. Only these two members of the header are read. */
  (header: { alg?: string; kid?: string }): Promise<CryptoKey>;
  /** Until when the present keys can be trusted; absent for keys that are never withdrawn. */
  believedUntil?(): number;
  /** Fetches keys that are missing or getting old; resolves even where that fails. */
  renew?(): Promise<void>;
  /** Whether the last attempt to fetch them failed. */
  unreachable?(): boolean;
}

export interface KeySetOptions {
  issuer: string;
  /** Where the keys are; without it, the issuer's metadata says so. */
  jwksUri?: string;
  /** The issuer's metadata, where others read it too. */
  metadata?: IssuerMetadata;
  allowInsecure?: boolean;
  maxBytes?: number;
  timeoutMs?: number;
  /** The shortest time between two fetches, whatever tokens callers send. */
  cooldownMs?: number;
  /** After this time, the next use fetches the keys again in the background. */
  maxAgeMs?: number;
  /** How long fetched keys are trusted, whether or not the issuer can be reached: no withdrawn key is accepted for longer. */
  believedMs?: number;
  now?: () => number;
  fetchDocument: FetchDocument;
  /** Called with every failed fetch, even where callers do not notice because the old keys still serve. */
  onFetchFailed?: (error: unknown) => void;
}

/** Without any keys nobody can be served, so the issuer is asked again before the cooldown ends. */
const retryWithoutKeysMs = 5_000;

/** [ID-1] The public keys of one issuer, fetched when first needed and kept up to date. */
export function createKeySet(options: KeySetOptions): KeySet {
  const { issuer, maxBytes = 1_048_576, timeoutMs = 5_000, cooldownMs = 30_000, maxAgeMs = 60_000, believedMs = 300_000 } = options;
  const { now = Date.now, fetchDocument, allowInsecure = false, onFetchFailed } = options;
  const limits = { maxBytes, timeoutMs, allowInsecure };
  const { metadata = createIssuerMetadata({ issuer, fetchDocument, ...limits }) } = options;

  let jwksUri = options.jwksUri;
  let keys: { find: KeySet; askedAt: number } | undefined;
  let lastAttempt: { at: number; failure: CribError | undefined } | undefined;
  let inFlight: Promise<void> | undefined;

  // A clock that was set back must not freeze the key set: a time in the future counts as long ago.
  const since = (time: number) => (now() < time ? Infinity : now() - time);
  const usable = () => (keys && since(keys.askedAt) < believedMs ? keys.find : undefined);

  async function load(): Promise<void> {
    // The answer may be as old as the request.
    const askedAt = now();
    try {
      jwksUri ??= (await metadata.get()).jwks_uri;
      const { status, body } = await fetchDocument(jwksUri, { ...limits, accept: 'application/jwk-set+json, application/json' });
      if (status !== 200)
        throw new CribError('NETWORK_ERROR', `The key set was answered with status ${status}`, { upstreamStatus: status });
      keys = { find: createLocalJWKSet(parseKeySet(body)), askedAt };
      lastAttempt = { at: now(), failure: undefined };
    } catch (cause) {
      // The address itself may have changed, so it is looked up again next time.
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

  /** Fetches the keys again unless that was just done; concurrent callers wait for the same fetch. */
  function refresh(): Promise<void> {
    const pause = usable() ? cooldownMs : Math.min(cooldownMs, retryWithoutKeysMs);
    if (!inFlight && lastAttempt && since(lastAttempt.at) < pause) return Promise.resolve();
    inFlight ??= load().finally(() => (inFlight = undefined));
    return inFlight;
  }

  async function find({ alg, kid }: Parameters<KeySet>[0]): Promise<CryptoKey> {
    if (!usable()) await refresh();
    // Nobody waits for it while the present keys can be trusted. It never rejects.
    else if (keys && since(keys.askedAt) >= maxAgeMs) void refresh();
    try {
      const among = usable();
      if (among) return await among({ alg, kid });
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await refresh();
    }
    // The key may be a new one that we could not fetch, which is not the caller's fault.
    if (lastAttempt?.failure) throw lastAttempt.failure;
    const among = usable();
    if (!among) throw new errors.JWKSNoMatchingKey();
    return among({ alg, kid });
  }
  return Object.assign(find, {
    believedUntil: () => (keys === undefined ? 0 : keys.askedAt + believedMs),
    renew: () => (keys !== undefined && since(keys.askedAt) < maxAgeMs ? Promise.resolve() : refresh()),
    unreachable: () => lastAttempt?.failure !== undefined,
  });
}
