import type { ClientCredentialTokens } from '../../identity/client-credentials.ts';
import type { Credential, McpDefinition } from '../../model/mcp-definition.ts';
import { resolveHeaders, type EnvironmentInput } from './environment.ts';
import { checkHeaderValue } from './header-rules.ts';
import { resolveServiceCredential } from './service-credential.ts';
import type { HttpCredentials } from './transports/streamable-http-request.ts';
import { userCredentials, type SpeakAs } from './user-credentials.ts';

interface RemoteCredentialsInput {
  definition: McpDefinition;
  /** The source's own, or the one for discovery. */
  credential: Credential;
  resolving: EnvironmentInput;
  tokens: ClientCredentialTokens;
  /** Who speaks, where every user does so for themselves. */
  speakAs: SpeakAs | undefined;
}

/** [MCP-12] [ID-2] With what every request to a remote server is sent: its headers and its credential, which fails closed. */
export async function remoteCredentials({
  definition,
  credential,
  resolving,
  tokens,
  speakAs,
}: RemoteCredentialsInput): Promise<HttpCredentials> {
  const { headers } = await resolveHeaders(definition, resolving);
  if (credential.type === 'oauth') return userCredentials(headers, speakAs);
  const service = await resolveServiceCredential(credential, definition, resolving);
  switch (service.type) {
    case 'none':
      return { headers: () => headers };
    case 'header': {
      checkHeaderValue(service.value, 'credential');
      const all = { ...headers, [service.name]: service.value };
      return { headers: () => all };
    }
    case 'query':
      return { headers: () => headers, query: { [service.name]: service.value } };
    case 'token': {
      const { asked } = service;
      return {
        headers: async () => ({ ...headers, authorization: `Bearer ${await tokens.get(asked)}` }),
        // Once more with a fresh token: the old one may have been withdrawn before its time.
        async onChallenge({ status }) {
          if (status !== 401) return false;
          tokens.drop(asked);
          return true;
        },
      };
    }
  }
}
