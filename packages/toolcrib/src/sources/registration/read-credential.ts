import { mapSecrets } from '../../model/credential.ts';
import type { Credential, NamedValue } from '../../model/source-definition.ts';
import { checkHeaderName } from '../upstream/header-rules.ts';
import type { Draft } from './draft.ts';
import { invalid } from './invalid.ts';
import { isSecretUsername } from './is-secret-username.ts';
import { checkServerUrl } from './server-url.ts';
import { textOf, type CredentialInput, type ValueInput } from './value-input.ts';

interface CredentialRules {
  /** The field of the request, which also names the credential's secrets. */
  field: 'credential' | 'discovery_credential';
  allowInsecure: boolean;
}

const missing = 'Missing required credentials';

/** [ID-2] Checks a credential and replaces its secrets by references. */
export function readCredential(draft: Draft, input: CredentialInput | undefined, { field, allowInsecure }: CredentialRules): Credential {
  if (input === undefined) return { type: 'none' };
  if (field === 'discovery_credential') checkDiscovery(input);
  checkCredential(input, field, (text, name) => checkServerUrl(text, { field: `${field}.${name}`, allowInsecure, draft }));
  return mapSecrets<ValueInput, NamedValue>(input, (value, name) => {
    const at = `${field}.${name}`;
    if (name === 'username') return keepUsername(draft, value, { at, secret: isSecretUsername(input) });
    const empty = isReference(value) ? undefined : textOf(value);
    if (empty?.trim() === '' && !(input.type === 'basic' && empty === '')) throw invalid(at, missing);
    return draft.keep(at, value, { field: at, secret: true });
  });
}

/** A plain user name stays plain text; a key used as the user name is stored as a secret. */
function keepUsername(draft: Draft, value: ValueInput, { at, secret }: { at: string; secret: boolean }): NamedValue | string {
  // The whole path would look like a secret, because it contains "credential".
  const kept = draft.keep(secret ? at : 'username', isReference(value) ? value : textOf(value), { field: at, secret });
  return 'value' in kept ? kept.value : kept;
}

function isReference(value: ValueInput): value is { secret_ref: string } {
  return typeof value === 'object' && 'secret_ref' in value;
}

/** [INV-6] Discovery has no caller. */
function checkDiscovery({ type }: CredentialInput): void {
  if (type !== 'token_exchange' && type !== 'caller_token') return;
  throw invalid('discovery_credential', `Discovery has no caller, so ${type} cannot be used for it: use another type`);
}

function checkCredential(input: CredentialInput, field: string, checkUrl: (text: string, name: string) => void): void {
  const urls: Record<string, string | undefined> = {};
  switch (input.type) {
    case 'none':
    case 'bearer':
      return;
    case 'basic':
      // RFC 7617 §2: everything after the first colon is the password.
      if (!isReference(input.username) && textOf(input.username).includes(':'))
        throw invalid(`${field}.username`, 'A user name cannot contain a colon');
      if ([input.username, input.password].every((value) => !isReference(value) && textOf(value) === ''))
        throw invalid(`${field}.username`, missing);
      return;
    case 'api_key':
      if (input.in !== 'query') checkHeaderName(input.name, `${field}.name`);
      return;
    case 'client_credentials':
      if (input.client_id.trim() === '') throw invalid(`${field}.client_id`, missing);
      if ((input.client_secret === undefined) === (input.private_key === undefined)) {
        throw invalid(`${field}.client_secret`, input.private_key === undefined ? missing : 'Give client_secret or private_key, not both');
      }
      urls['token_url'] = input.token_url;
      break;
    case 'jwt_bearer':
      urls['token_url'] = input.token_url;
      urls['identity_provider.token_url'] = input.identity_provider?.token_url;
      break;
    case 'oauth':
      if (input.client_secret !== undefined && input.client_id === undefined) {
        throw invalid(`${field}.client_id`, 'client_secret needs a client_id: give both');
      }
      if (input.client_metadata_url !== undefined && !/^https:\/\/[^/?#]+\/[^?#]/.test(input.client_metadata_url)) {
        throw invalid(`${field}.client_metadata_url`, 'client_metadata_url must be an https address with a path');
      }
      urls['authorization_server'] = input.authorization_server;
      urls['resource'] = input.resource;
      break;
    case 'token_exchange':
      if (input.client_id.trim() === '') throw invalid(`${field}.client_id`, missing);
      // RFC 8693 §2.1 allows several audiences. But each of the services could then use the token at the others.
      if (/\s/.test(input.audience)) throw invalid(`${field}.audience`, 'Name exactly one audience, without spaces');
      return;
    case 'caller_token':
      return;
  }
  for (const [name, url] of Object.entries(urls)) if (url !== undefined) checkUrl(url, name);
}
