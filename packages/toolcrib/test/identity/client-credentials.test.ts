import { expect, test } from 'vitest';
import { createClientCredentialTokens } from '../../src/identity/client-credentials.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { loopbackEgress } from '../fixtures/loopback-egress.ts';

test.each<[body: string, reason: string]>([
  ['{"error": "invalid_client", "error_description": "The secret\\nhas ended"}', 'it answered 401 (invalid_client: The secret has ended)'],
  ['{"error": "invalid_client"}', 'it answered 401 (invalid_client)'],
  ['<html>', 'it answered 401'],
])('[MCP-12] a refused token request is reported in the words of the server: %s', async (body, reason) => {
  await using server = await startHttpServer((_request, response) => void response.writeHead(401).end(body));
  const tokens = createClientCredentialTokens({ egress: loopbackEgress });
  const asked = { tokenUrl: `${server.origin}/token`, serverUrl: undefined, clientId: 'me', clientSecret: 'x', allowInsecure: false };
  await expect(tokens.get(asked)).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    upstreamStatus: 401,
    message: `No token from ${server.origin}/token: ${reason}. Check the client id and secret of the source`,
  });
});

test('[MCP-12] one token serves everyone who asks with the same client and scope, until it is dropped', async () => {
  let issued = 0;
  await using server = await startHttpServer(
    (_request, response) => void response.end(JSON.stringify({ access_token: `token-${++issued}`, expires_in: 300 })),
  );
  const tokens = createClientCredentialTokens({ egress: loopbackEgress });
  const asked = {
    tokenUrl: `${server.origin}/token`,
    serverUrl: 'https://a.example',
    clientId: 'me',
    clientSecret: 'x',
    allowInsecure: false,
  };
  const other = { ...asked, serverUrl: 'https://b.example' };
  await Promise.all([tokens.get(asked), tokens.get(other)]);
  expect(issued).toBe(1);
  await tokens.get({ ...asked, scope: 'read' });
  expect(issued).toBe(2);
  tokens.drop(other);
  await tokens.get(asked);
  expect(issued).toBe(3);
});
