import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { devClient } from '../running-server.ts';
import { startRecordingUpstream, type RecordingUpstream } from '../fixtures/recording-upstream.ts';

let server: OpenServer;
let upstream: RecordingUpstream;
let admin: ApiClient;
let alice: ApiClient;
let bob: ApiClient;
let client: { client_id: string; client_secret: string };

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  server = await startOpenServer();
  ({ admin, alice, bob } = server);
  client = await devClient(server.url);
  for (const audience of ['pizzeria-api', 'inventory-api', 'nowhere-api']) await register(audience, { mcp_server_url: upstream.url });
});
beforeEach(() => void upstream.requests.splice(0));
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

async function register(audience: string, more: object) {
  const credential = { type: 'token_exchange', audience, ...client };
  // On a busy machine thousands of calls at once take longer than is usual.
  const resilience = { requestTimeoutMs: 170_000 };
  const body = { name: audience, credential, discovery_credential: { type: 'none' }, resilience, ...more };
  return admin.post('/api/sources?wait=20000', body);
}

const subjectOf = ({ token = '' }: ApiClient) => decodeJwt(token).sub;
const sentTokens = () => new Set(upstream.calls().map(({ headers }) => headers.authorization ?? ''));

test('[ID-3] [MCP-12] the server gets a token of the caller that is for it alone', async () => {
  for (const caller of [alice, bob]) {
    const { json } = await caller.call('pizzeria-api:whoami');
    expect(json.result).toMatchObject({ aud: 'pizzeria-api', sub: subjectOf(caller) });
    expect(upstream.everything()).not.toContain(caller.token);
  }
});

test('[ID-3] the exchanged token is removed from the answers', async () => {
  expect((await alice.call('pizzeria-api:leak')).json.text).toBe('the token is ***');
});

test('[ID-3] [MCP-12] an exchanged token is sent over HTTP with SSE too', async () => {
  await register('pizzeria-api', { name: 'Legacy', mcp_server_url: upstream.sseUrl, mcp_transport_type: 'sse' });
  for (const caller of [alice, bob]) {
    expect((await caller.call('legacy:whoami')).json.result).toMatchObject({ aud: 'pizzeria-api', sub: subjectOf(caller) });
  }
  expect(upstream.calls().length).toBe(2);
  expect(upstream.everything()).not.toContain(alice.token);
});

test('[ID-5] a caller who lacks the right is refused, and nothing reaches the server', async () => {
  const { status, json } = await bob.call('inventory-api:whoami');
  expect([status, json]).toMatchObject([200, { success: false, error: { code: 'FORBIDDEN', origin: 'caller', retryable: false } }]);
  expect(upstream.requests).toEqual([]);
  expect((await alice.call('inventory-api:whoami')).json.result).toMatchObject({ aud: 'inventory-api', sub: subjectOf(alice) });
});

test('[ID-5] an unknown audience is the operator’s fault, and says nothing about the server', async () => {
  for (let times = 0; times < 8; times++) {
    expect((await alice.call('nowhere-api:whoami')).json.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  }
  expect(upstream.requests).toEqual([]);
  const { json } = await admin.get('/api/sources/nowhere-api');
  expect(json).toMatchObject({ status: { state: 'running' }, health: 'healthy' });
  expect((await admin.get('/metrics')).text).not.toContain('toolcrib_breakers_open{of="nowhere-api"');
});

test('[ID-5] many refusals of one user stop nobody else', async () => {
  const refused = await Promise.all(Array.from({ length: 20 }, async () => (await bob.call('inventory-api:whoami')).json.error.code));
  expect(new Set(refused)).toEqual(new Set(['FORBIDDEN']));
  expect((await alice.call('inventory-api:whoami')).json.success).toBe(true);
  expect((await admin.get('/api/sources/inventory-api')).json.health).toBe('healthy');
});

test('[ID-3] two users with a thousand calls each are never mixed up', async () => {
  const calls = Array.from({ length: 50 }, () => ({ name: 'pizzeria-api:whoami' }));
  const batches = Array.from({ length: 40 }, async (_, index) => {
    const caller = index % 2 === 0 ? alice : bob;
    const { json } = await caller.post('/api/bff/tools/call/batch', { calls });
    type Whoami = { answer: { result: { sub: string } | null; error: unknown } };
    const seen = json.answers.map(({ answer }: Whoami) => answer.result?.sub ?? answer.error);
    expect(seen).toEqual(calls.map(() => subjectOf(caller)));
  });
  await Promise.all(batches);
  expect(upstream.calls().length).toBe(2000);
  for (const { token = '' } of [alice, bob]) expect(upstream.everything()).not.toContain(token);
});

test('[ID-3] a token that the server rejects is renewed once, and then the rejection is reported', async () => {
  await alice.call('pizzeria-api:whoami');
  const [before = ''] = sentTokens();
  upstream.refusals.set(before.replace('Bearer ', ''), 401);
  expect((await alice.call('pizzeria-api:whoami')).json.success).toBe(true);
  const [, after = ''] = sentTokens();
  expect(after).not.toBe('');
  upstream.refusals.set(after.replace('Bearer ', ''), 401);
  expect((await alice.call('pizzeria-api:whoami')).json.error).toMatchObject({
    code: 'UNAUTHENTICATED',
    origin: 'caller',
    upstream_status: 401,
  });
  expect(sentTokens().size).toBe(2);
  // [ID-5] What befell alice says nothing about the server, and bob goes on.
  expect((await bob.call('pizzeria-api:whoami')).json.success).toBe(true);
  upstream.refusals.clear();
});

test('[ID-1] [ID-3] a server that comes back with the token it was sent is refused', async () => {
  await bob.call('pizzeria-api:whoami');
  const [sent = ''] = sentTokens();
  const replayed = await admin.get('/api/bff/tools', { authorization: sent });
  expect([replayed.status, replayed.json.code]).toEqual([401, 'UNAUTHENTICATED']);
});

test('[ID-6] a local server gets the exchanged token of its caller, in a process of its own', async () => {
  const { json } = await register('pizzeria-api', { name: 'Local', mcp_command: fixture('plain'), credential_env: 'PIZZERIA_TOKEN' });
  expect(json.status).toMatchObject({ state: 'running' });
  const digestFor = async (caller: ApiClient) => (await caller.call('local:digest', { name: 'PIZZERIA_TOKEN' })).json.text;
  const [ofAlice, ofBob, again] = await Promise.all([alice, bob, alice].map(digestFor));
  expect(ofAlice).toBe(again);
  expect(ofAlice).not.toBe(ofBob);
  const own = [alice, bob].map(({ token = '' }) => createHash('sha256').update(token).digest('hex'));
  expect(own).not.toContain(ofAlice);
  expect((await alice.call('local:environment')).json.result).toMatchObject({ PIZZERIA_TOKEN: '***' });
});

test('nobody has to connect to a source with token exchange', async () => {
  const { status, json } = await alice.post('/api/connections/pizzeria-api', undefined);
  expect([status, json.message]).toEqual([409, expect.stringContaining('needs no connection')]);
  expect((await alice.get('/api/connections')).json.connections).toEqual([]);
});

test('[ENV-4] the client secret of the exchange is never shown', async () => {
  const { text, json } = await admin.get('/api/sources/pizzeria-api');
  expect(json.definition.credential).toEqual({
    type: 'token_exchange',
    audience: 'pizzeria-api',
    client_id: 'toolcrib-gateway',
    client_secret: '***',
  });
  expect(text).not.toContain(client.client_secret);
});

test('[OPS-1] exchanges are counted by outcome', async () => {
  const { text } = await admin.get('/metrics');
  for (const outcome of ['cached', 'exchanged', 'denied', 'failed']) {
    expect(text).toMatch(new RegExp(`toolcrib_token_exchanges_total\\{outcome="${outcome}"\\} [1-9]`));
  }
  expect(text).toContain('toolcrib_token_exchange_duration_seconds_count');
});
