import { z } from 'zod';
import { CribError } from '../model/crib-error.ts';
import type { FetchDocument } from '../net/fetch-document.ts';

const metadataSchema = z.object({ issuer: z.string(), jwks_uri: z.string(), token_endpoint: z.string().optional() });
type Metadata = z.infer<typeof metadataSchema>;

export interface IssuerMetadata {
  /** The issuer's metadata; concurrent callers share one request. */
  get(): Promise<Metadata>;
  /** It may have changed: the next read asks again. */
  forget(): void;
}

interface MetadataOptions {
  issuer: string;
  fetchDocument: FetchDocument;
  maxBytes: number;
  timeoutMs: number;
  allowInsecure: boolean;
}

/** The discovery document of an issuer: where its keys are, and where it gives tokens. */
export function createIssuerMetadata(options: MetadataOptions): IssuerMetadata {
  let known: Promise<Metadata> | undefined;
  return {
    get() {
      if (known !== undefined) return known;
      const asked = discover(options);
      known = asked;
      asked.catch(() => {
        if (known === asked) known = undefined;
      });
      return asked;
    },
    forget: () => void (known = undefined),
  };
}

/** OpenID Connect Discovery 1.0 §4. */
async function discover({ issuer, fetchDocument, ...limits }: MetadataOptions): Promise<Metadata> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { status, body } = await fetchDocument(address, { ...limits, accept: 'application/json' });
  if (status !== 200) throw new CribError('NETWORK_ERROR', `${address} answered with status ${status}`, { upstreamStatus: status });
  let metadata;
  try {
    metadata = metadataSchema.parse(JSON.parse(body));
  } catch (cause) {
    throw new CribError('NETWORK_ERROR', `${address} is not a discovery document: it must name its issuer and jwks_uri`, { cause });
  }
  // §4.3: otherwise one issuer could publish keys in the name of another.
  if (metadata.issuer !== issuer) {
    throw new CribError('NETWORK_ERROR', `${address} names another issuer than ${issuer}: configure the issuer exactly as it names itself`);
  }
  return metadata;
}
