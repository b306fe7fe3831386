import type { ClientCredentialTokens } from '../../identity/client-credentials.ts';
import type { Credential, McpDefinition } from '../../model/mcp-definition.ts';
import type { EnvironmentInput } from './environment.ts';
import { resolveServiceCredential } from './service-credential.ts';
import type { SpeakAs } from './user-credentials.ts';

interface CallerTokenInput {
  definition: McpDefinition;
  credential: Credential;
  resolving: EnvironmentInput;
  tokens: ClientCredentialTokens;
  speakAs: SpeakAs | undefined;
}

/** [ID-6] What a process that speaks for one user is given in its environment; nothing for discovery without a credential. */
export async function callerToken(input: CallerTokenInput): Promise<Record<string, string>> {
  const { definition, credential, resolving, tokens, speakAs } = input;
  const name = definition.credential_env;
  if (name === null) return {};
  if (credential.type === 'oauth') {
    const token = await speakAs?.tokens.get(speakAs.speaker);
    if (token === undefined) return {};
    speakAs?.redactor.add(token.accessToken);
    return { [name]: token.accessToken };
  }
  const service = await resolveServiceCredential(credential, definition, resolving);
  if (service.type === 'token') {
    const token = await tokens.get(service.asked);
    resolving.redactor?.add(token);
    return { [name]: token };
  }
  return service.type === 'header' ? { [name]: service.value.replace(/^Bearer /, '') } : {};
}
