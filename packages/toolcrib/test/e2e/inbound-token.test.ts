import { setImmediate as turn } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { connect } from '../fixtures/connect.ts';
import { startOAuthServer, type OAuthServer } from '../fixtures/oauth-server.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { startRecordingUpstream, type RecordingUpstream } from '../fixtures/recording-upstream.ts';
import { exchangeClient } from '../fixtures/token-issuer.ts';
import { adminClaims, startServerWithIssuer, until } from '../running-server.ts';
import { InboundToken } from '../../src/model/inbound-token.ts';

let parts: Awaited<ReturnType<typeof startServerWithIssuer>>;
let upstream: RecordingUpstream;
let oauth: OAuthServer;
let admin: ApiClient;
let alice: ApiClient;

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  oauth = await startOAuthServer();
  oauth.addClient('robot', 'robot-secret');
  oauth.answers.set('/assertion', (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"access_token": "asserted", "token_type": "Bearer"}'),
  );
  parts = await startServerWithIssuer();
  admin = await parts.signedIn(adminClaims);
  alice = await parts.signedIn({ sub: 'alice' });
  await grantEverything(admin);
});
beforeEach(() => void upstream.requests.splice(0));
afterAll(async () => {
  await parts[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await oauth[Symbol.asyncDispose]();
});

const exchange = { type: 'token_exchange', audience: 'notes-api', ...exchangeClient };
const forDiscovery = { discovery_credential: { type: 'none' } };

/** Registers a source that speaks so, and gives what it is called. */
async function register(namespace: string, credential: object, more: object = {}): Promise<string> {
  const body = { name: namespace, namespace, mcp_server_url: upstream.url, credential, ...more };
  const { status, json } = await admin.post('/api/sources?wait=20000', body);
  if (status !== 201 || json.status.state !== 'running') throw new Error(JSON.stringify(json));
  return namespace;
}

describe('[ID-2] [ID-4] the caller’s token never reaches a server', () => {
  const modes: [string, object, object?][] = [
    ['none', { type: 'none' }],
    ['key-in-header', { type: 'api_key', name: 'X-Key', value: 'a key' }],
    ['key-in-query', { type: 'api_key', in: 'query', name: 'key', value: 'a key' }],
    ['key-in-cookie', { type: 'api_key', in: 'cookie', name: 'key', value: 'a-key' }],
    ['basic', { type: 'basic', username: 'me', password: 'a password' }],
    ['bearer', { type: 'bearer', token: 'a-token' }],
    ['token-exchange', exchange, forDiscovery],
  ];

  test.each(modes)('that has the credential %s', async (name, credential, more) => {
    const source = await register(name, credential, more);
    expect((await alice.call(`${source}:whoami`)).json.success).toBe(true);
    expect(upstream.calls().length).toBe(1);
    expect(upstream.everything()).not.toContain(alice.token);
  });

  test('that has client credentials or an assertion', async () => {
    const client = { client_id: 'robot', client_secret: 'robot-secret' };
    await register('client', { type: 'client_credentials', token_url: `${oauth.issuer}/token`, ...client });
    const assertion = { type: 'jwt_bearer', token_url: `${oauth.issuer}/assertion`, assertion: 'who we are', ...client };
    await register('assertion', assertion);
    for (const source of ['client', 'assertion']) expect((await alice.call(`${source}:whoami`)).json.success).toBe(true);
    expect(upstream.calls().map(({ headers }) => headers.authorization)).toEqual([`Bearer ${oauth.tokenOf('robot')}`, 'Bearer asserted']);
    expect(upstream.everything()).not.toContain(alice.token);
  });

  test('that has a connection of the caller', async () => {
    await register('connected', { type: 'oauth', authorization_server: oauth.issuer }, forDiscovery);
    await connect(alice, { oauth, user: 'alice', source: 'connected' });
    expect((await alice.call('connected:whoami')).json.success).toBe(true);
    expect(upstream.calls().map(({ headers }) => headers.authorization)).toEqual([`Bearer ${oauth.tokenOf('alice')}`]);
    expect(upstream.everything()).not.toContain(alice.token);
  });

  test('unless the source asks for it, and then it is removed from the answers', async () => {
    await register('forwarding', { type: 'caller_token' }, forDiscovery);
    expect((await alice.call('forwarding:leak')).json.text).toBe('the token is ***');
    expect(upstream.calls().map(({ headers }) => headers.authorization)).toEqual([`Bearer ${alice.token}`]);
    const listed = upstream.requests.filter(({ body }) => body.includes('tools/list'));
    expect(listed.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  test('and cannot be printed', () => {
    const token = new InboundToken('canary', 'digest');
    const printed = [String(token), JSON.stringify({ token }), inspect({ token }), inspect(token, { showHidden: true })];
    expect(printed.join()).not.toContain('canary');
    expect(Object.entries(token)).toEqual([['digest', 'digest']]);
  });
});

describe('[ID-5] an issuer that gives no token', () => {
  test('stops the call before anything is sent, and no other credential is used instead', async () => {
    const source = await register('broken', { ...exchange, audience: 'broken-api' }, forDiscovery);
    upstream.requests.splice(0);
    parts.issuer.answers.token = (_request, response) => response.writeHead(500).end();
    const { json } = await alice.call(`${source}:whoami`);
    delete parts.issuer.answers.token;
    expect(json.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
    expect(upstream.requests).toEqual([]);
    expect((await alice.call(`${source}:whoami`)).json.result).toMatchObject({ aud: 'broken-api', sub: 'alice' });
    expect((await admin.get(`/api/sources/${source}`)).json.health).toBe('healthy');
  });
});

describe('[ID-3] [MCP-5] the sessions of a source with exchanged tokens', () => {
  test('are not shared between two tokens of one user', async () => {
    const source = await register('apart', { ...exchange, audience: 'apart-api' }, forDiscovery);
    const agents = await Promise.all(['one', 'two'].map((azp) => parts.signedIn({ sub: 'alice', azp })));
    for (const agent of [...agents, ...agents]) await agent.call(`${source}:whoami`);
    const sent = upstream.calls().map(({ headers }) => headers.authorization);
    expect([sent[0] === sent[2], sent[1] === sent[3], sent[0] === sent[1]]).toEqual([true, true, false]);
  });

  test('end with the token: a call that outlives it says so', async () => {
    const source = await register('outlived', { ...exchange, audience: 'outlived-api' }, forDiscovery);
    const brief = await parts.signedIn({ sub: 'alice', exp: Math.floor(Date.now() / 1000) + 3 });
    const { json } = await brief.call(`${source}:wait`, {}, { async: true });
    // By then the token is no use for asking either: alice has another.
    const ended = await until(async () => {
      await turn();
      const { json: call } = await alice.get(`/api/bff/calls/${json.call_id}`);
      return call.status === 'failed' ? call : undefined;
    });
    expect(JSON.stringify(ended)).toContain('UNAUTHENTICATED');
    expect(JSON.stringify(ended)).toContain('Your token expired');
  });
});
