import { openApiDefinitionSchema, type OpenApiDefinition } from '../openapi-definition.ts';
import type { Credential } from '../../../model/source-definition.ts';
import { handlingOf } from '../../registration/common-fields.ts';
import { createDraft, type Draft } from '../../registration/draft.ts';
import { invalid } from '../../registration/invalid.ts';
import { givenHeaders, keepHeaders } from '../../registration/keep-headers.ts';
import type { NormalisedRegistration } from '../../registration/normalised-registration.ts';
import { checkDiscoveryConnection, checkForwarding } from '../../registration/per-user-rules.ts';
import { readCredential } from '../../registration/read-credential.ts';
import { readDiscoveryCredential } from '../../registration/read-discovery-credential.ts';
import { readDocumentPlace } from '../../registration/read-document-place.ts';
import { keepReferred } from '../../registration/keep-referred.ts';
import { readNaming } from '../../registration/read-naming.ts';
import type { RegistrationContext } from '../../registration/registration-context.ts';
import { hasReference } from '../../../secrets/secret-looks.ts';
import { checkServerUrl } from '../../registration/server-url.ts';
import type { OpenApiForm } from './openapi-form.ts';

/** [SRC-5] Turns a registration into a definition. The document itself is read when the source starts. */
export function normaliseOpenApi(form: OpenApiForm, context: RegistrationContext): NormalisedRegistration<OpenApiDefinition> {
  const naming = readNaming(form, context);
  const draft = createDraft(context);
  const { allow_insecure: allowInsecure, openapi } = form;
  const { place, text } = readDocumentPlace(draft, openapi, { field: 'openapi', allowInsecure });
  if ('url' in place) keepReferred(draft, [place.url], context);
  checkExternalRefs(openapi.external_refs ?? [], 'url' in place || 'file' in place);
  const serverUrl = readServerUrl(draft, openapi.server_url, allowInsecure);
  keepHeaders(draft, givenHeaders(form.headers ?? {}).values());
  const credential = readCredential(draft, form.credential, { field: 'credential', allowInsecure });
  if (serverUrl === null) checkReachable(credential);
  checkForwarding(credential, { allowInsecure, url: serverUrl });
  checkDiscoveryConnection(form.discovery_credential, credential);
  const definition = openApiDefinitionSchema.parse({
    document: place,
    server_url: serverUrl,
    origins: readOrigins(draft, openapi.origins ?? [], allowInsecure),
    server_variables: openapi.server_variables,
    external_refs: openapi.external_refs,
    async_poll: openapi.async_poll,
    allow_insecure: allowInsecure,
    environment: Object.fromEntries(draft.environment),
    headers: Object.fromEntries(draft.headers),
    credential,
    discovery_credential: readDiscoveryCredential(draft, form, place),
    ...handlingOf(form, context),
  });
  return { ...naming, enabled: form.enabled, definition, secrets: draft.secrets, starts: null, missing: [], document: text };
}

/** The server URL is stored with every tool, so it must be final: no references and no placeholders. */
function readServerUrl(draft: Draft, text: string | undefined, allowInsecure: boolean): string | null {
  if (text === undefined) return null;
  const field = 'openapi.server_url';
  const url = checkServerUrl(text, { field, allowInsecure, draft });
  if (hasReference(text) || text.includes('{')) throw invalid(field, 'Variables are not replaced in this field: give the final address');
  if (url.search !== '') throw invalid(field, 'The address has a query (?…), but paths are appended to it. Remove the query');
  return url.href.replace(/\/+$/, '');
}

function readOrigins(draft: Draft, listed: readonly string[], allowInsecure: boolean): string[] {
  const field = 'openapi.origins';
  const origins = listed.map((text) => {
    const { origin, href } = checkServerUrl(text, { field, allowInsecure, draft });
    if (href !== `${origin}/`) throw invalid(field, `Give only the origin: ${origin}`);
    return origin;
  });
  return [...new Set(origins)];
}

/** Without `server_url`, only the document names the service. It must not decide who gets tokens, so these credentials need an address. */
function checkReachable(credential: Credential): void {
  const field = 'openapi.server_url';
  if (credential.type === 'caller_token')
    throw invalid(field, "Give the address of the service: a caller's own token is sent nowhere else");
  if (credential.type === 'oauth' && credential.authorization_server === undefined) {
    throw invalid('credential.authorization_server', 'Name the authorization server, or give openapi.server_url to discover it');
  }
  if ((credential.type === 'client_credentials' || credential.type === 'jwt_bearer') && credential.token_url === undefined) {
    throw invalid('credential.token_url', 'Give the token endpoint, or give openapi.server_url to discover it');
  }
}

/** The network rules are checked on connecting. A pasted document has no address, so relative entries mean nothing for it. */
function checkExternalRefs(listed: readonly string[], hasAddress: boolean): void {
  const field = 'openapi.external_refs';
  for (const entry of listed) {
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(entry)?.[1]?.toLowerCase();
    if (scheme !== undefined && scheme !== 'https' && scheme !== 'http')
      throw invalid(field, `${scheme} addresses are not supported: use https or http`);
    if (scheme === undefined && !hasAddress) throw invalid(field, 'Give absolute addresses: a pasted document has no address');
  }
}
