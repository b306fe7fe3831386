import type { DocumentPlace } from '../../model/document-place.ts';
import type { Credential } from '../../model/source-definition.ts';
import type { Draft } from './draft.ts';
import { invalid } from './invalid.ts';
import { readCredential } from './read-credential.ts';
import type { CredentialInput } from './value-input.ts';

interface DiscoveryForm {
  discovery_credential?: CredentialInput | undefined;
  allow_insecure: boolean;
}

/** The credential for fetching a document; null if there is none. */
export function readDiscoveryCredential(draft: Draft, form: DiscoveryForm, place: DocumentPlace): Credential | null {
  const { discovery_credential: discovery, allow_insecure: allowInsecure } = form;
  if (discovery === undefined) return null;
  const field = 'discovery_credential';
  if (!('url' in place))
    throw invalid(field, 'The document of this source is not fetched, so it needs no credential. Remove discovery_credential');
  return readCredential(draft, discovery, { field, allowInsecure });
}
