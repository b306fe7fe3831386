import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { startOAuthServer } from '../fixtures/oauth-server.ts';
import { adminClaims, startServerWithIssuer } from '../running-server.ts';

/** As in production: nothing but public addresses, and the issuer that the operator has named. */
let closed: Awaited<ReturnType<typeof startServerWithIssuer>>;
let admin: ApiClient;
let upstream: Awaited<ReturnType<typeof startHttpServer>>;
let asked = 0;

beforeAll(async () => {
  closed = await startServerWithIssuer({ allowedNetworks: [] });
  admin = await closed.signedIn(adminClaims);
  upstream = await startHttpServer((_request, response) => {
    asked += 1;
    response.writeHead(404).end();
  });
});
beforeEach(() => void (asked = 0));
afterAll(async () => {
  await closed[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const named = (path: string) => `http://localhost:${upstream.port}${path}`;

test.each<[string, object, string]>([
  ['the server', { mcp_server_url: 'https://10.1.2.3/mcp' }, 'mcp_server_url'],
  ['the server of a package', packageAt('https://[::ffff:10.1.2.3]/mcp'), 'mcp.transport.url'],
  ['a metadata service', { mcp_server_url: 'https://169.254.169.254/latest', allow_insecure: true }, 'mcp_server_url'],
  ['this machine', { mcp_server_url: 'http://127.1:8080/mcp' }, 'mcp_server_url'],
  ['a token endpoint', withTokensFrom('https://192.168.1.1/token'), 'credential.token_url'],
])('[SEC-1] the address of %s is refused at once if it is off limits', async (name, body, field) => {
  for (const path of ['/api/sources', '/api/sources/preview?discover=true']) {
    const refused = await admin.post(path, { name, ...body });
    expect(refused).toMatchObject({ status: 400, json: { code: 'VALIDATION_ERROR', field } });
    expect(refused.json.message).toMatch(/private address|metadata service|this machine/);
  }
});

test('[SEC-1] a name that resolves to a forbidden address is refused by discovery and by preview', async () => {
  const body = { name: 'Named', mcp_server_url: named('/mcp') };
  const reason = expect.stringMatching(/^localhost leads to an address of this machine .*--allow-network localhost$/);
  const preview = (await admin.post('/api/sources/preview?discover=true', body)).json;
  expect(preview.error).toMatchObject({ code: 'NETWORK_ERROR', message: reason });
  const { json } = await admin.post('/api/sources?wait=20000', body);
  expect(json.status).toMatchObject({ state: 'error', message: expect.stringContaining('localhost leads to an address of this machine') });
  await admin.delete('/api/sources/named');
  expect(asked).toBe(0);
});

test('[SEC-1] [MCP-12] neither a token endpoint nor an authorization server can be at a forbidden address', async () => {
  await using oauth = await startOAuthServer();
  const local = `http://localhost:${new URL(oauth.issuer).port}`;
  const tokens = { ...withTokensFrom(`${local}/token`), name: 'Tokens', mcp_server_url: 'https://mcp.example.org/mcp' };
  const { json } = await admin.post('/api/sources?wait=20000', tokens);
  expect(json.status).toMatchObject({ state: 'error', message: expect.stringContaining('localhost leads to') });
  const users = { name: 'Users', mcp_server_url: named('/mcp'), credential: { type: 'oauth', authorization_server: local } };
  await admin.post('/api/sources?wait=20000', users);
  const begun = await admin.post('/api/connections/users', undefined);
  expect(begun).toMatchObject({ status: 502, json: { message: expect.stringContaining('localhost leads to') } });
  expect([asked, oauth.seen.token.length]).toEqual([0, 0]);
  for (const name of ['tokens', 'users']) await admin.delete(`/api/sources/${name}`);
});

test('[SEC-1] the issuer may be anywhere, because the operator has named it', () => {
  expect(closed.issuer.fetches).toMatchObject({ discovery: 1, jwks: 1 });
});

function packageAt(url: string): object {
  return { mcp: { package: { package_type: 'http', identifier: 'x' }, transport: { type: 'http', url } } };
}

function withTokensFrom(tokenUrl: string): object {
  const credential = { type: 'client_credentials', token_url: tokenUrl, client_id: 'me', client_secret: 'x' };
  return { mcp_server_url: 'https://mcp.example.org/mcp', credential };
}
