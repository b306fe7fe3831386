import { mapSecrets } from '../../model/credential.ts';
import type { JsonObject } from '../../model/json.ts';
import { mcpAsGiven } from '../mcp/registration/mcp-as-given.ts';
import type { DocumentForm } from './document-form.ts';
import { hideAs, hideValues } from './hide-as.ts';
import type { NormalisedSource } from './normalised-registration.ts';
import { showSource } from './show-source.ts';
import type { SourceForm } from './source-form.ts';
import type { CredentialInput, ValueInput } from './value-input.ts';

/**
 * [SRC-2] [ENV-4] A registration as it was given, to be stored and read back in its own form: a secret is `***`, or `${NAME}` within a text,
 * so that it can be sent back. What the source is called is not in it: that can change without a registration.
 */
export function asGiven(form: SourceForm, made: NormalisedSource): JsonObject {
  const { id: _id, name: _name, namespace: _namespace, enabled: _enabled, source_type: _type, ...given } = form;
  const shown = showSource(made);
  const hidden: Record<string, unknown> = { ...given };
  if ('headers' in given && given.headers !== undefined) hidden['headers'] = hideValues(given.headers, shown.headers);
  if ('credential' in given && given.credential !== undefined) hidden['credential'] = hideCredential(given.credential, shown.credential);
  if (given.discovery_credential !== undefined)
    hidden['discovery_credential'] = hideCredential(given.discovery_credential, shown.discovery_credential);
  if (form.source_type === 'mcp' && made.source_type === 'mcp') Object.assign(hidden, mcpAsGiven(form, made));
  if ('openapi' in given && 'document' in shown) hidden['openapi'] = withoutText(given.openapi, shown.document);
  if ('workflow' in given && 'document' in shown) hidden['workflow'] = withoutText(given.workflow, shown.document);
  return JSON.parse(JSON.stringify(hidden)) as JsonObject;
}

function hideCredential(given: CredentialInput, shown: CredentialInput | null): CredentialInput {
  const fields = (shown ?? {}) as Record<string, ValueInput | undefined>;
  return mapSecrets<ValueInput, ValueInput>(given, (value, field) => hideAs(value, fields[field]));
}

/** A document that was pasted is stored beside its source, and kept by a registration that names none. */
function withoutText({ text: _text, stored: _stored, ...form }: DocumentForm, place: object): object {
  return 'url' in place ? { ...form, url: place.url } : form;
}
