import { mapSecrets } from '../../model/credential.ts';
import type { Credential } from '../../model/source-definition.ts';
import { checkHeaderName } from '../upstream/header-rules.ts';
import type { Draft } from './draft.ts';
import { invalid } from './invalid.ts';
import { checkServerUrl } from './server-url.ts';
import type { CredentialInput, ValueInput } from './value-input.ts';

interface CredentialRules {
  /** Where it stands in the request; its secrets are named by that. */
  field: 'credential' | 'discovery_credential';
  allowInsecure: boolean;
}

const missing = 'Missing required credentials';

/** [ID-2] A credential with its secrets put aside, refused where it could not be used. */
export function readCredential(draft: Draft, input: CredentialInput | undefined, { field, allowInsecure }: CredentialRules): Credential {
  if (input === undefined) return { type: 'none' };
  if (field === 'discovery_credential') checkDiscovery(input);
  const { checkLiteral } = draft;
  checkCredential(input, field, (text, name) => checkServerUrl(text, { field: `${field}.${name}`, allowInsecure, checkLiteral }));
  return mapSecrets(input, (value: ValueInput, name) => {
    const text = typeof value === 'string' ? value : 'value' in value ? value.value : undefined;
    if (text?.trim() === '') throw invalid(`${field}.${name}`, missing);
    return draft.keep(`${field}.${name}`, value, { field: `${field}.${name}`, secret: true });
  });
}

/** [INV-6] Nobody calls when tools are looked for. */
function checkDiscovery({ type }: CredentialInput): void {
  if (type !== 'token_exchange' && type !== 'caller_token') return;
  throw invalid('discovery_credential', `There is no caller when tools are looked for, so that ${type} gives nothing: use another type`);
}

function checkCredential(input: CredentialInput, field: string, checkUrl: (text: string, name: string) => void): void {
  const urls: Record<string, string | undefined> = {};
  switch (input.type) {
    case 'none':
    case 'bearer':
      return;
    case 'basic':
      // RFC 7617 §2: everything behind the first colon is the password.
      if (input.username.includes(':')) throw invalid(`${field}.username`, 'A user name cannot have a colon in it');
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
        throw invalid(`${field}.client_id`, 'A client secret belongs to a client: give its client_id too');
      }
      if (input.client_metadata_url !== undefined && !/^https:\/\/[^/?#]+\/[^?#]/.test(input.client_metadata_url)) {
        throw invalid(`${field}.client_metadata_url`, 'The document must be at an https address with a path');
      }
      urls['authorization_server'] = input.authorization_server;
      urls['resource'] = input.resource;
      break;
    case 'token_exchange':
      if (input.client_id.trim() === '') throw invalid(`${field}.client_id`, missing);
      // RFC 8693 §2.1 allows several. A token for several services can be used by each at the others.
      if (/\s/.test(input.audience)) throw invalid(`${field}.audience`, 'Name exactly one audience, without spaces');
      return;
    case 'caller_token':
      return;
  }
  for (const [name, url] of Object.entries(urls)) if (url !== undefined) checkUrl(url, name);
}
