import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDevelopmentBridge, type DevelopmentBridge } from './development-bridge.ts';
import { Person } from './person.ts';
import { callback, codeIn, PublicClient } from './public-client.ts';

let bridge: DevelopmentBridge;
beforeAll(async () => void (bridge = await startDevelopmentBridge()));
afterAll(() => bridge[Symbol.asyncDispose]());

const places = [
  '/.well-known/oauth-authorization-server/login',
  '/.well-known/openid-configuration/login',
  '/login/.well-known/openid-configuration',
];

test.each(places)('[LOGIN-3] %s says where everything is', async (path) => {
  const response = await fetch(`${bridge.url}${path}`, { headers: { origin: 'https://client.example' } });
  const issuer = `${bridge.url}/login`;
  expect(response.headers.get('access-control-allow-origin')).toMatch(/^(\*|https:\/\/client\.example)$/);
  expect(await response.json()).toMatchObject({
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    registration_endpoint: `${issuer}/register`,
    revocation_endpoint: `${issuer}/revoke`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    scopes_supported: expect.arrayContaining(['mcp', 'offline_access']),
  });
});

test('[LOGIN-3] a login gives a token that names its client, its grant and one address of the door', async () => {
  const client = await PublicClient.register(bridge.url);
  const person = new Person(callback);
  const back = await bridge.allow(person, await person.open(client.loginUrl({ resource: `${bridge.url}/mcp/builtin-tools?mode=search` })));
  const returned = new URL(back.url).searchParams;
  expect(Object.fromEntries(returned)).toMatchObject({ state: 'state-of-the-client', iss: `${bridge.url}/login` });
  const { json } = await client.redeem(codeIn(back));
  expect(json).toMatchObject({ token_type: 'Bearer', expires_in: 600, scope: 'mcp', refresh_token: expect.any(String) });
  const keys = createRemoteJWKSet(new URL(`${bridge.url}/login/jwks`));
  const { payload } = await jwtVerify(json.access_token, keys, { issuer: `${bridge.url}/login`, typ: 'at+jwt' });
  expect(payload).toMatchObject({ aud: `${bridge.url}/mcp/builtin-tools`, client_id: client.id, gid: expect.any(String), scope: 'mcp' });
});

test('[LOGIN-3] addresses in the answers follow the configuration, whatever host a request names', async () => {
  for (const headers of [{ host: 'localhost' }, { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }] as Record<
    string,
    string
  >[]) {
    const response = await fetch(`${bridge.url}${places[0]}`, { headers });
    expect(await response.json()).toMatchObject({ issuer: `${bridge.url}/login`, token_endpoint: `${bridge.url}/login/token` });
  }
});

test('[LOGIN-3] pages of any origin may register, get tokens and end them, without anything that a browser sends by itself', async () => {
  const origin = 'https://client.example';
  for (const path of ['/login/register', '/login/token', '/login/revoke', '/login/jwks', ...places]) {
    const asking = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,mcp-protocol-version',
    };
    const { status, headers } = await fetch(`${bridge.url}${path}`, { method: 'OPTIONS', headers: asking });
    expect([path, status, headers.get('access-control-allow-headers')]).toEqual([path, 204, 'content-type,mcp-protocol-version']);
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  }
  const client = await PublicClient.register(bridge.url);
  for (const [path, body] of [
    ['/login/token', { grant_type: 'refresh_token', refresh_token: 'x', client_id: client.id }],
    ['/login/revoke', { token: 'x', client_id: client.id }],
  ] as const) {
    const response = await fetch(`${bridge.url}${path}`, { method: 'POST', headers: { origin }, body: new URLSearchParams(body) });
    expect(response.headers.get('access-control-allow-origin')).toMatch(/^(\*|https:\/\/client\.example)$/);
  }
});
