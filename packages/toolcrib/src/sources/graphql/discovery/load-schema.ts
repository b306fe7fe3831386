import { isPerUser } from '../../../model/credential.ts';
import { CribError } from '../../../model/crib-error.ts';
import type { DefinedSource } from '../../../model/source.ts';
import type { Credential } from '../../../model/source-definition.ts';
import { createLoadDocument, type LoadedDocument } from '../../documents/load-document.ts';
import { sendRequest } from '../../upstream/http/send-request.ts';
import { remoteCredentials } from '../../upstream/remote-credentials.ts';
import { resolveCredential } from '../../upstream/resolve-credential.ts';
import { requestHeaders } from '../call/request-headers.ts';
import type { GraphqlDefinition } from '../graphql-definition.ts';

type LoaderInput = Parameters<typeof createLoadDocument>[0];
type GraphqlSource = DefinedSource<GraphqlDefinition>;
export type LoadSchema = (source: GraphqlSource, signal: AbortSignal) => Promise<LoadedDocument>;

/** Loads a service's schema from its document, or from the service itself by introspection. */
export function createLoadSchema(input: LoaderInput): LoadSchema {
  const loadDocument = createLoadDocument(input);
  return async (source, signal) => {
    if (!source.definition.introspection) return loadDocument(source, signal);
    return { text: await introspected(input, source, signal), url: null, externalRefs: [], load: refuseOthers };
  };
}

async function introspected(input: LoaderInput, source: GraphqlSource, signal: AbortSignal): Promise<string> {
  const { definition } = source;
  const { allow_insecure: allowInsecure, resilience, server_url: endpoint } = definition;
  const resolving = input.resolvingFor(source.id);
  const { redactor } = resolving;
  const credential = await resolveCredential(credentialOf(definition), { ...input, source, definition, resolving, principal: undefined });
  const credentials = await remoteCredentials({ definition, credential, resolving, redactor });
  const { origin, pathname, search } = input.egress.checkAddress(endpoint, allowInsecure);
  const client = input.egress.httpClient({ origin, maxConnections: 1 });
  const timeout = AbortSignal.timeout(resilience.startupTimeoutMs);
  const options = { signal: AbortSignal.any([signal, timeout]), trace: undefined, leftMs: () => undefined };
  const request = { method: 'POST', target: `${pathname}${search}` };
  // Loaded on first use, so that a server without GraphQL sources does not pay for it.
  const { introspect } = await import('./introspect.ts');
  try {
    return await introspect(
      async (body) => {
        const sent = await sendRequest({ client, credentials, redactor }, { ...request, headers: { ...requestHeaders }, body }, options);
        return { status: sent.response.status, text: sent.bytes.toString() };
      },
      (text) => redactor.redact(text),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!timeout.aborted) throw error;
    const message = `The service did not return its schema within ${resilience.startupTimeoutMs} ms`;
    throw new CribError('SERVICE_UNAVAILABLE', message, { cause: error });
  } finally {
    await client.destroy();
  }
}

/** Introspection uses the discovery credential if there is one, else the source's own credential, unless every user has their own. */
function credentialOf({ credential, discovery_credential: discovery }: GraphqlDefinition): Credential {
  if (discovery !== null) return discovery.type === 'oauth' ? credential : discovery;
  return isPerUser(credential) ? { type: 'none' } : credential;
}

async function refuseOthers(): Promise<string> {
  throw new CribError('FORBIDDEN', 'A GraphQL schema cannot refer to other documents');
}
