import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { connect } from '../fixtures/connect.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { startProtectedServer } from '../fixtures/mcp/protected-server.ts';
import { startOAuthServer } from '../fixtures/oauth-server.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { until } from '../running-server.ts';

let server: OpenServer;
let admin: ApiClient;
let upstream: Awaited<ReturnType<typeof startHttpServer>>;
const seen: { url: string; headers: IncomingHttpHeaders }[] = [];

beforeAll(async () => {
  server = await startOpenServer();
  ({ admin } = server);
  // It lets nobody in: what it was sent is all that matters here.
  upstream = await startHttpServer((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers });
    response.writeHead(403).end();
  });
});
beforeEach(() => void seen.splice(0));
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

test.each<[string, object, { url?: string; headers?: IncomingHttpHeaders }]>([
  ['a key in a header', { type: 'api_key', name: 'X-Key', value: 'canary-1' }, { headers: { 'x-key': 'canary-1' } }],
  ['a key in the address', { type: 'api_key', in: 'query', name: 'key', value: 'canary 2' }, { url: '/mcp?tenant=a&key=canary+2' }],
  ['a key in a cookie', { type: 'api_key', in: 'cookie', name: 'session', value: 'canary-3' }, { headers: { cookie: 'session=canary-3' } }],
  [
    'a name and a password',
    { type: 'basic', username: 'me', password: 'canary-4' },
    { headers: { authorization: 'Basic bWU6Y2FuYXJ5LTQ=' } },
  ],
  [
    'a key as the user name, without a password',
    { type: 'basic', username: 'canary-0', password: '' },
    { headers: { authorization: 'Basic Y2FuYXJ5LTA6' } },
  ],
  ['a token', { type: 'bearer', token: 'canary-5' }, { headers: { authorization: 'Bearer canary-5' } }],
])('[ID-2] [ERR-10] %s is sent with every request, and a refusal is reported as one', async (name, credential, sent) => {
  const body = { name, mcp_server_url: `${upstream.origin}/mcp?tenant=a`, credential };
  const { json } = await admin.post('/api/sources?wait=20000', body);
  expect(json).toMatchObject({ status: { state: 'error', code: 'FORBIDDEN' }, health: 'unauthenticated' });
  expect(seen.length).toBeGreaterThan(0);
  for (const request of seen) expect(request).toMatchObject(sent);
  expect(JSON.stringify(json)).not.toContain('canary');
});

beforeAll(async () => void (await admin.put('/api/secrets/with-colon', { value: 'a:b' })));
test.each([
  ['a cookie', { type: 'api_key', in: 'cookie', name: 'session', value: 'a;b' }],
  ['a header', { type: 'api_key', name: 'X-Key', value: 'a\nb' }],
  ['a user name', { type: 'basic', username: { secret_ref: 'with-colon' }, password: '' }],
  ['a secret that is not there', { type: 'bearer', token: { secret_ref: 'nowhere' } }],
])('[ID-2] a credential that cannot be sent stops the request: %s', async (what, credential) => {
  const { json } = await admin.post('/api/sources?wait=20000', {
    name: `Bad ${what}`,
    mcp_server_url: `${upstream.origin}/mcp`,
    credential,
  });
  expect(json.status).toMatchObject({ state: 'error', code: 'VALIDATION_ERROR' });
  expect(seen).toEqual([]);
});

test('[MCP-12] a source finds the token endpoint by itself, and asks for a token once', async () => {
  await using oauth = await startOAuthServer();
  await using wiki = await startProtectedServer(oauth);
  oauth.addClient('robot', 'canary-6');
  const credential = { type: 'client_credentials', client_id: 'robot', client_secret: 'canary-6' };
  await admin.post('/api/sources?wait=20000', { name: 'Found', mcp_server_url: wiki.url, credential });
  const texts = [server.alice, server.bob].map(async (client) => (await client.call('found:whoami')).json.text);
  expect(await Promise.all(texts)).toEqual(['robot', 'robot']);
  expect(oauth.seen.token.map((form) => [form.get('grant_type'), form.get('resource')])).toEqual([['client_credentials', wiki.url]]);
  await admin.delete('/api/sources/found');
});

test('[MCP-12] one connection can serve everybody once an administrator has made it', async () => {
  await using oauth = await startOAuthServer();
  await using wiki = await startProtectedServer(oauth);
  const body = { name: 'Shared', mcp_server_url: wiki.url, credential: { type: 'oauth', shared: true } };
  const { json } = await admin.post('/api/sources?wait=20000', body);
  expect(json.status).toMatchObject({ state: 'error', code: 'UNAUTHENTICATED', message: expect.stringContaining('/api/connections/') });
  expect((await server.alice.post('/api/connections/shared', undefined)).status).toBe(404);
  await connect(admin, { oauth, user: 'robot', source: 'shared' });
  await until(async () => (await admin.get('/api/sources/shared')).json.status.state === 'running');
  const texts = [server.alice, server.bob].map(async (client) => (await client.call('shared:whoami')).json.text);
  expect(await Promise.all(texts)).toEqual(['robot', 'robot']);
  expect((await server.alice.get('/api/connections')).json.connections).toEqual([]);
  expect((await server.alice.delete('/api/connections/shared')).status).toBe(403);
  expect((await admin.get('/api/connections')).json.connections).toMatchObject([{ for: 'everybody', connected: true }]);
  await admin.delete('/api/sources/shared');
});

test('[ENV-4] [SEC-1] a stored credential is not sent to another host after somebody changed the address', async () => {
  const given = { name: 'Moving', mcp_server_url: `${upstream.origin}/mcp`, credential: { type: 'bearer', token: 'canary-7' } };
  await admin.post('/api/sources?wait=20000', given);
  const { id } = (await admin.get('/api/sources/moving')).json;
  const elsewhere: IncomingHttpHeaders[] = [];
  await using other = await startHttpServer((request, response) => {
    elsewhere.push(request.headers);
    response.writeHead(403).end();
  });
  const moved = { ...given, mcp_server_url: `${other.origin}/mcp` };
  const hidden = { ...moved, credential: { type: 'bearer', token: '***' } };
  expect(await admin.put('/api/sources/moving', hidden)).toMatchObject({ status: 400, json: { field: 'credential.token' } });
  // Nor by the name under which it is stored.
  await admin.put('/api/sources/moving', { ...moved, credential: { type: 'bearer', token: { secret_ref: `mcp_${id}.credential.token` } } });
  await until(async () => (await admin.get('/api/sources/moving')).json.status.code === 'VALIDATION_ERROR');
  expect(elsewhere).toEqual([]);
  await admin.put('/api/sources/moving', { ...moved, credential: { type: 'bearer', token: 'canary-8' } });
  await until(async () => (await admin.get('/api/sources/moving')).json.status.code === 'FORBIDDEN');
  expect((await admin.put('/api/sources/moving', { ...hidden, mcp_server_url: `${other.origin}/v2` })).status).toBe(200);
  await until(async () => (await admin.get('/api/sources/moving')).json.status.code === 'FORBIDDEN' && elsewhere.length > 1);
  for (const headers of elsewhere) expect(headers.authorization).toBe('Bearer canary-8');
  await admin.delete('/api/sources/moving');
});
