import type { ClientCredentialTokens } from '../../identity/client-credentials.ts';
import type { McpDefinition } from '../../model/mcp-definition.ts';
import { createSourceFillIn, resolveHeaders, type EnvironmentInput } from './environment.ts';
import type { HttpCredentials } from './transports/streamable-http-request.ts';

/** [MCP-12] [ID-2] With what every request to a remote server is sent: its headers and its credential, which fails closed. */
export async function remoteCredentials(
  definition: McpDefinition,
  resolving: EnvironmentInput,
  tokens: ClientCredentialTokens,
): Promise<HttpCredentials> {
  const { headers } = await resolveHeaders(definition, resolving);
  const { credential } = definition;
  const fillIn = createSourceFillIn(definition, resolving);
  switch (credential.type) {
    case 'none':
      return { headers: () => headers };
    case 'bearer': {
      const token = await fillIn.value(credential.token, 'credential.token');
      resolving.redactor?.add(token);
      return { headers: () => ({ ...headers, authorization: `Bearer ${token}` }) };
    }
    case 'client_credentials': {
      const clientSecret = await fillIn.value(credential.client_secret, 'credential.client_secret');
      resolving.redactor?.add(clientSecret);
      const tokenUrl = await fillIn.text(credential.token_url, 'credential.token_url');
      const clientId = await fillIn.text(credential.client_id, 'credential.client_id');
      const scope = credential.scope === undefined ? undefined : await fillIn.text(credential.scope, 'credential.scope');
      const asked = { tokenUrl, clientId, clientSecret, scope, allowInsecure: definition.allow_insecure };
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
