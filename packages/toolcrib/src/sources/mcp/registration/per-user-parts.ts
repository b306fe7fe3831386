import { isPerUser } from '../../../model/credential.ts';
import type { McpDefinition } from '../mcp-definition.ts';
import type { Credential } from '../../../model/source-definition.ts';
import { checkVariableName } from '../../upstream/variable-names.ts';
import type { Draft } from '../../registration/draft.ts';
import type { McpRegistration } from './forms.ts';
import { invalid } from '../../registration/invalid.ts';
import { checkDiscoveryConnection, checkForwarding } from '../../registration/per-user-rules.ts';
import { readCredential } from '../../registration/read-credential.ts';

type PerUserParts = Pick<McpDefinition, 'discovery_credential' | 'credential_env'>;

/** [INV-6] [ID-6] Reads and checks the fields for sources with a credential for each user. `isLocal`: the server is started here. */
export function perUserParts(
  draft: Draft,
  form: McpRegistration,
  credential: Credential,
  { isLocal, url }: { isLocal: boolean; url: string | null },
): PerUserParts {
  const { credential_env: variable, discovery_credential: discovery } = form;
  if (!isPerUser(credential)) {
    const given = discovery === undefined ? (variable === undefined ? undefined : 'credential_env') : 'discovery_credential';
    if (given !== undefined)
      throw invalid(
        given,
        `${given} is only for sources with a credential for each user: oauth, token_exchange or caller_token. Take it out`,
      );
    return { discovery_credential: null, credential_env: null };
  }
  checkDiscoveryConnection(discovery, credential);
  checkForwarding(credential, { allowInsecure: form.allow_insecure, url });
  if (isLocal) {
    checkLocal(draft, form, credential);
    if (discovery !== undefined) checkLocalDiscovery(discovery);
  } else if (variable !== undefined) {
    throw invalid('credential_env', 'A remote server gets the token in a header, not in a variable. Take it out');
  }
  return {
    discovery_credential:
      discovery === undefined
        ? null
        : readCredential(draft, discovery, { field: 'discovery_credential', allowInsecure: form.allow_insecure }),
    credential_env: variable ?? null,
  };
}

/** A process that was started with one user's token must never serve another user. */
function checkLocal(draft: Draft, form: McpRegistration, credential: Credential): void {
  const { credential_env: variable } = form;
  if (credential.type === 'caller_token') {
    throw invalid('credential', "A local server does not get the caller's own token. Use token_exchange instead");
  }
  if (variable === undefined) {
    throw invalid('credential_env', "Name the environment variable in which the server expects the caller's token");
  }
  checkVariableName(variable, 'credential_env', false);
  if (draft.environment.has(variable))
    throw invalid('credential_env', `${variable} already has a value. Take the value out, or name another variable`);
  if (credential.type === 'oauth' && credential.authorization_server === undefined) {
    throw invalid('credential.authorization_server', 'Name the authorization server: a local server offers no way to discover it');
  }
  if (form.mcp_lifecycle_mode === 'singleton') {
    throw invalid('mcp_lifecycle_mode', 'One process cannot serve several users who each have a credential. Use transient');
  }
  if ((form.standby ?? 0) > 0)
    throw invalid('standby', 'A process that is started ahead of a call has no user, and so no credential. Take standby out');
}

function checkLocalDiscovery(discovery: NonNullable<McpRegistration['discovery_credential']>): void {
  const field = 'discovery_credential';
  if (discovery.type === 'api_key' || discovery.type === 'basic') {
    throw invalid(field, 'A local server gets a token in its variable. Use none, bearer, client_credentials or oauth');
  }
  if ('token_url' in discovery || discovery.type === 'none' || discovery.type === 'bearer' || discovery.type === 'oauth') return;
  throw invalid(`${field}.token_url`, 'Give the token endpoint: a local server offers no way to discover it');
}
