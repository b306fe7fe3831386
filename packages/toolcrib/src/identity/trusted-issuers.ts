import { CribError } from '../model/crib-error.ts';
import type { FetchDocument } from '../net/fetch-document.ts';
import { signatureAlgorithms, type IssuerConfig } from './issuer-config.ts';
import { createIssuerMetadata } from './issuer-metadata.ts';
import { createKeySet, type KeySet } from './jwks.ts';

/** An issuer whose tokens are accepted, and what we know about it. */
export interface TrustedIssuer {
  readonly config: IssuerConfig;
  readonly keySet: KeySet;
  readonly algorithms: string[];
  /** The endpoint that exchanges tokens: the configured one, or else the one that the issuer names. */
  tokenEndpoint(): Promise<string>;
  /** The answer of the issuer may be outdated. */
  forgetTokenEndpoint(): void;
}

/** With its keys where they need not be fetched, as for our own development issuer. */
type GivenIssuer = IssuerConfig & { keySet?: KeySet };

export interface TrustedIssuersOptions {
  issuers: GivenIssuer[];
  now?: () => number;
  fetchDocument: FetchDocument;
  onFetchFailed?: (error: unknown, issuer: string) => void;
}

const metadataLimits = { maxBytes: 1_048_576, timeoutMs: 5000 };

/** [ID-1] By the name in the `iss` claim. */
export function createTrustedIssuers(options: TrustedIssuersOptions): ReadonlyMap<string, TrustedIssuer> {
  const { now, fetchDocument, onFetchFailed } = options;
  const issuers = new Map<string, TrustedIssuer>();
  for (const { keySet, ...config } of options.issuers) {
    const { issuer, jwks_uri: jwksUri, allow_insecure: allowInsecure = false } = config;
    if (issuers.has(issuer)) throw new CribError('VALIDATION_ERROR', `The issuer ${issuer} is configured twice`, { field: 'issuers' });
    const metadata = createIssuerMetadata({ issuer, fetchDocument, allowInsecure, ...metadataLimits });
    issuers.set(issuer, {
      config,
      algorithms: checkAlgorithms(config),
      keySet:
        keySet ??
        createKeySet({
          issuer,
          jwksUri,
          allowInsecure,
          metadata,
          now,
          fetchDocument,
          onFetchFailed: (error) => onFetchFailed?.(error, issuer),
        }),
      async tokenEndpoint() {
        const endpoint = config.token_endpoint ?? (await metadata.get()).token_endpoint;
        if (endpoint !== undefined) return endpoint;
        throw new CribError('SERVICE_UNAVAILABLE', `The issuer ${issuer} names no token endpoint: configure its token_endpoint`);
      },
      forgetTokenEndpoint: () => metadata.forget(),
    });
  }
  return issuers;
}

/** The same rule applies to a list that `issuerConfigSchema` did not parse. */
function checkAlgorithms({ issuer, algorithms = [...signatureAlgorithms] }: IssuerConfig): string[] {
  const allowed: readonly string[] = signatureAlgorithms;
  if (algorithms.length > 0 && algorithms.every((algorithm) => allowed.includes(algorithm))) return algorithms;
  throw new CribError('VALIDATION_ERROR', `The algorithms of ${issuer} must be among ${allowed.join(', ')}`, { field: 'algorithms' });
}
