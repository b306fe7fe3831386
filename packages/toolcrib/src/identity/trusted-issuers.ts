import { CribError } from '../model/crib-error.ts';
import type { FetchDocument } from '../net/fetch-document.ts';
import { signatureAlgorithms, type IssuerConfig } from './issuer-config.ts';
import { createIssuerMetadata } from './issuer-metadata.ts';
import { createKeySet, type KeySet } from './jwks.ts';

/** An issuer whose tokens are accepted, and what we know of it. */
export interface TrustedIssuer {
  readonly config: IssuerConfig;
  readonly keySet: KeySet;
  readonly algorithms: string[];
  /** Where it exchanges tokens: as it was configured, else as the issuer itself says. */
  tokenEndpoint(): Promise<string>;
  /** What the issuer said may not hold any more. */
  forgetTokenEndpoint(): void;
}

/** With its keys, where they are already here (our own development issuer). */
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

/** A list that was not parsed by `issuerConfigSchema` is held to the same rule. */
function checkAlgorithms({ issuer, algorithms = [...signatureAlgorithms] }: IssuerConfig): string[] {
  const allowed: readonly string[] = signatureAlgorithms;
  if (algorithms.length > 0 && algorithms.every((algorithm) => allowed.includes(algorithm))) return algorithms;
  throw new CribError('VALIDATION_ERROR', `The algorithms of ${issuer} must be among ${allowed.join(', ')}`, { field: 'algorithms' });
}
