import { z } from 'zod';
import { CribError } from '../model/crib-error.ts';
import type { FetchDocument } from '../net/fetch-document.ts';

const metadataSchema = z.object({ issuer: z.string(), jwks_uri: z.string() });

export interface DiscoverOptions {
  issuer: string;
  fetchDocument: FetchDocument;
  maxBytes: number;
  timeoutMs: number;
  allowInsecure: boolean;
}

/** Asks an issuer where its keys are (OpenID Connect Discovery 1.0 §4). */
export async function discoverJwksUri({ issuer, fetchDocument, ...limits }: DiscoverOptions): Promise<string> {
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
  return metadata.jwks_uri;
}
