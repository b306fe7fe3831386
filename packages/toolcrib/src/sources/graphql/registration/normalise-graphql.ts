import { hasReference, looksSecret } from '../../../secrets/secret-looks.ts';
import { handlingOf } from '../../registration/common-fields.ts';
import { createDraft, type Draft } from '../../registration/draft.ts';
import { invalid } from '../../registration/invalid.ts';
import { givenHeaders, keepHeaders } from '../../registration/keep-headers.ts';
import { keepReferred } from '../../registration/keep-referred.ts';
import type { NormalisedRegistration } from '../../registration/normalised-registration.ts';
import { checkDiscoveryConnection, checkForwarding } from '../../registration/per-user-rules.ts';
import { readCredential } from '../../registration/read-credential.ts';
import { readDiscoveryCredential } from '../../registration/read-discovery-credential.ts';
import { readDocumentPlace, type PlacedDocument } from '../../registration/read-document-place.ts';
import { readNaming } from '../../registration/read-naming.ts';
import type { RegistrationContext } from '../../registration/registration-context.ts';
import { checkServerUrl } from '../../registration/server-url.ts';
import { graphqlDefinitionSchema, type GraphqlDefinition } from '../graphql-definition.ts';
import type { GraphqlForm } from './graphql-form.ts';

/** Turns a registration into a definition. The schema itself is read when the source starts. */
export function normaliseGraphql(form: GraphqlForm, context: RegistrationContext): NormalisedRegistration<GraphqlDefinition> {
  const naming = readNaming(form, context);
  const draft = createDraft(context);
  const { allow_insecure: allowInsecure, graphql } = form;
  const endpoint = readEndpoint(draft, graphql.endpoint, allowInsecure);
  const { place, text, introspection } = readPlace(draft, form, endpoint);
  if ('url' in place) keepReferred(draft, [place.url], context);
  keepHeaders(draft, givenHeaders(form.headers ?? {}).values());
  const credential = readCredential(draft, form.credential, { field: 'credential', allowInsecure });
  checkForwarding(credential, { allowInsecure, url: endpoint });
  checkDiscoveryConnection(form.discovery_credential, credential);
  const definition = graphqlDefinitionSchema.parse({
    document: place,
    introspection,
    server_url: endpoint,
    selection: graphql.selection,
    allow_insecure: allowInsecure,
    environment: Object.fromEntries(draft.environment),
    headers: Object.fromEntries(draft.headers),
    credential,
    discovery_credential: readDiscoveryCredential(draft, form, place),
    ...handlingOf(form, context),
  });
  return { ...naming, enabled: form.enabled, definition, secrets: draft.secrets, starts: null, missing: [], document: text };
}

/** The endpoint is stored with every tool, so it must not contain references or secrets. */
function readEndpoint(draft: Draft, text: string, allowInsecure: boolean): string {
  const field = 'graphql.endpoint';
  const url = checkServerUrl(text, { field, allowInsecure, draft });
  if (hasReference(text)) throw invalid(field, 'The endpoint cannot contain ${…}: give the full address');
  const secret = [...url.searchParams.keys()].find(looksSecret);
  if (secret !== undefined) {
    throw invalid(
      field,
      `The address contains a key. Remove it, and give it as a credential: {"type": "api_key", "in": "query", "name": ${JSON.stringify(secret)}, "value": …}`,
    );
  }
  return url.href;
}

/** If no schema is given and none is stored, it is read from the endpoint. */
function readPlace(
  draft: Draft,
  { graphql, allow_insecure: allowInsecure }: GraphqlForm,
  endpoint: string,
): PlacedDocument & { introspection: boolean } {
  const { url, file, text, introspection } = graphql;
  const { stored } = graphql as { stored?: string };
  const given = (['url', 'file', 'text'] as const).find((name) => graphql[name] !== undefined);
  if (introspection === true && given !== undefined) throw invalid(`graphql.${given}`, `Give introspection or ${given}, not both`);
  if (introspection === true || (given === undefined && stored === undefined))
    return { place: { url: endpoint }, text: null, introspection: true };
  return { ...readDocumentPlace(draft, { url, file, text, stored }, { field: 'graphql', allowInsecure }), introspection: false };
}
