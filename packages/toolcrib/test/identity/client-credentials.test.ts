import { expect, test } from 'vitest';
import { createClientCredentialTokens } from '../../src/identity/client-credentials.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { loopbackEgress } from '../fixtures/loopback-egress.ts';

test.each<[body: string, reason: string]>([
  ['{"error": "invalid_client", "error_description": "The secret\\nhas ended"}', 'it answered 401 (invalid_client: The secret has ended)'],
  ['{"error": "invalid_client"}', 'it answered 401 (invalid_client)'],
  ['<html>', 'it answered 401'],
])('[MCP-12] a token that is refused is refused in the words of the server: %s', async (body, reason) => {
  await using server = await startHttpServer((_request, response) => void response.writeHead(401).end(body));
  const tokens = createClientCredentialTokens({ egress: loopbackEgress });
  const asked = { tokenUrl: `${server.origin}/token`, serverUrl: undefined, clientId: 'me', clientSecret: 'x', allowInsecure: false };
  await expect(tokens.get(asked)).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    upstreamStatus: 401,
    message: `No token from ${server.origin}/token: ${reason}. Check the client id and secret of the source`,
  });
});
