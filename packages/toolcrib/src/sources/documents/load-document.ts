import { CribError } from '../../model/crib-error.ts';
import type { DefinedSource } from '../../model/source.ts';
import type { Egress } from '../../net/egress.ts';
import type { Redactor } from '../../secrets/redactor.ts';
import { mostDocumentBytes } from '../registration/document-form.ts';
import type { DocumentDefinition } from '../registration/document-registration.ts';
import { createSourceFillIn, type EnvironmentInput } from '../upstream/environment.ts';
import { remoteCredentials } from '../upstream/remote-credentials.ts';
import type { HttpCredentials } from '../upstream/request-with-credentials.ts';
import { resolveCredential, type TokenSources } from '../upstream/resolve-credential.ts';
import { allowedBeginnings } from './allowed-beginnings.ts';
import { readDocumentFile, readReferredFile } from './read-document-file.ts';

/** The current document of a source. */
export interface LoadedDocument {
  text: string;
  /** The document's address; null if it was pasted. */
  url: URL | null;
  /** Prefixes of the addresses that the document may refer to. */
  externalRefs: string[];
  /** Loads another document that this one refers to. */
  load(url: URL, signal: AbortSignal): Promise<string>;
}

/** `external_refs`: prefixes of the addresses that the document may refer to. */
type DocumentSourceRecord = DefinedSource<DocumentDefinition & { external_refs?: string[] }>;

export type LoadDocument = (source: DocumentSourceRecord, signal: AbortSignal) => Promise<LoadedDocument>;

interface DocumentLoaderInput extends TokenSources {
  egress: Egress;
  resolvingFor(sourceId: string): EnvironmentInput & { redactor: Redactor };
  /** The text of a document that was pasted. */
  textOf(source: DocumentSourceRecord): Promise<string | undefined>;
}

const accept = 'application/vnd.oai.openapi+json, application/json, application/yaml, text/yaml, text/plain;q=0.8, */*;q=0.5';

/** [SRC-5] Loads documents that are stored here, in a file or at a URL. */
export function createLoadDocument(input: DocumentLoaderInput): LoadDocument {
  const { egress, resolvingFor } = input;

  /** The discovery credential, or none. Unless asked to, never sends the service's credential: another host may serve the document. */
  async function credentialsFor(source: DocumentSourceRecord): Promise<HttpCredentials> {
    const { discovery_credential: discovery, credential: own } = source.definition;
    if (discovery === null) return {};
    const definition = { ...source.definition, headers: {} };
    const resolving = resolvingFor(source.id);
    const chosen = discovery.type === 'oauth' ? own : discovery;
    const credential = await resolveCredential(chosen, { ...input, source, definition, resolving, principal: undefined });
    return remoteCredentials({ definition, credential, resolving, redactor: resolving.redactor });
  }

  async function fetched(source: DocumentSourceRecord, url: URL, credentials: HttpCredentials, signal: AbortSignal) {
    const { allow_insecure: allowInsecure, resilience } = source.definition;
    const target = new URL(url);
    for (const [name, value] of Object.entries(credentials.query ?? {})) target.searchParams.set(name, value);
    for (let isSecond = false; ; isSecond = true) {
      const headers = await credentials.headers?.({ method: 'GET', url: target });
      const found = await egress.fetchDocument(target, {
        maxBytes: mostDocumentBytes,
        timeoutMs: resilience.startupTimeoutMs,
        allowInsecure,
        accept,
        redirects: 3,
        signal,
        ...(headers === undefined ? {} : { headers }),
      });
      const { status } = found;
      if (status < 400) return found;
      const refused = { url: target, sent: headers ?? {}, wwwAuthenticate: '', dpopNonce: '' };
      if (status === 401 && !isSecond && (await credentials.onChallenge?.({ ...refused, status })) === true) continue;
      throw fetchFailed(found.url, status);
    }
  }

  return async (source, signal) => {
    const { document, external_refs: listed = [] } = source.definition;
    if ('stored' in document) {
      const text = await input.textOf(source);
      if (text === undefined) throw new CribError('SERVICE_UNAVAILABLE', 'The document is no longer stored: register the source again');
      return referring(source, { text, url: null }, {}, listed);
    }
    if ('file' in document) return referring(source, await readDocumentFile(document.file), {}, listed);
    const address = await createSourceFillIn(source.definition, resolvingFor(source.id)).text(document.url, 'document.url');
    const credentials = await credentialsFor(source);
    const { body, url: found } = await fetched(source, new URL(address), credentials, signal);
    const url = new URL(found);
    // The query may carry a key, and relative references do not need it.
    url.search = '';
    return referring(source, { text: body, url }, credentials, listed);
  };

  function referring(
    source: DocumentSourceRecord,
    { text, url }: Pick<LoadedDocument, 'text' | 'url'>,
    credentials: HttpCredentials,
    listed: readonly string[],
  ): LoadedDocument {
    const externalRefs = allowedBeginnings(listed, url);
    async function load(wanted: URL, signal: AbortSignal): Promise<string> {
      if (!externalRefs.some((beginning) => wanted.href.startsWith(beginning)))
        throw new CribError(
          'FORBIDDEN',
          `external_refs does not allow ${wanted.origin}${wanted.pathname}: add its address to external_refs`,
        );
      if (wanted.protocol === 'file:') return readReferredFile(wanted, url);
      return (await fetched(source, wanted, wanted.origin === url?.origin ? credentials : {}, signal)).body;
    }
    return { text, url, externalRefs, load };
  }
}

function fetchFailed({ origin, pathname }: URL, status: number): CribError {
  const what = `The document could not be fetched: ${origin}${pathname} answered with status ${status}`;
  if (status !== 401 && status !== 403) return new CribError('NETWORK_ERROR', what, { upstreamStatus: status });
  return new CribError('SERVICE_UNAVAILABLE', `${what}. If the document is protected, set discovery_credential`, {
    upstreamStatus: status,
    retryable: false,
  });
}
