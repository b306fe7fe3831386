import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { connect } from '../fixtures/connect.ts';
import { startOAuthServer, type OAuthServer } from '../fixtures/oauth-server.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';

let server: OpenServer;
let oauth: OAuthServer;
let admin: ApiClient;
let alice: ApiClient;
let bob: ApiClient;

beforeAll(async () => {
  oauth = await startOAuthServer();
  server = await startOpenServer();
  ({ admin, alice, bob } = server);
  await admin.post('/api/sources?wait=30000', {
    name: 'Local',
    mcp_command: fixture('plain'),
    credential: { type: 'oauth', authorization_server: oauth.issuer, scope: 'notes' },
    credential_env: 'NOTES_TOKEN',
    discovery_credential: { type: 'none' },
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await oauth[Symbol.asyncDispose]();
});

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

test('[ID-6] a local server gets the token of its caller, in a process of its own', async () => {
  expect((await admin.get('/api/sources/local')).json.status).toEqual({ state: 'running', tools: expect.any(Number) });
  expect((await alice.call('local:echo', { text: 'hi' })).json.error).toMatchObject({ code: 'UNAUTHENTICATED', origin: 'caller' });
  await connect(alice, { oauth, user: 'alice', source: 'local' });
  await connect(bob, { oauth, user: 'bob', source: 'local' });
  expect(oauth.seen.authorize.at(-1)?.get('scope')).toBe('notes');
  const calls = [alice, bob, alice, bob].map(async (client) => (await client.call('local:digest', { name: 'NOTES_TOKEN' })).json.text);
  const [ofAlice, ofBob] = [digest(oauth.tokenOf('alice')), digest(oauth.tokenOf('bob'))];
  expect(await Promise.all(calls)).toEqual([ofAlice, ofBob, ofAlice, ofBob]);
  const pids = [1, 2].map(async () => (await alice.call('local:process')).json.result.pid);
  expect(new Set(await Promise.all(pids)).size).toBe(2);
});

test('[ENV-4] [ID-6] the caller’s token is removed from everything such a process says', async () => {
  expect((await alice.call('local:environment')).json.result).toMatchObject({ NOTES_TOKEN: '***' });
  await alice.call('local:stderr', { text: `it is ${oauth.tokenOf('alice')}` });
  const log = JSON.stringify((await admin.get('/api/sources/local/logs')).json);
  expect(log).toContain('it is ***');
  expect(log).not.toContain(oauth.tokenOf('alice'));
});

test('[ENV-4] [OPS-1] the caller’s token is removed from the wire log', async () => {
  await admin.put('/api/sources/local/wire-log', { enabled: true });
  await alice.call('local:environment');
  await alice.call('local:echo', { text: `it is ${oauth.tokenOf('alice')}` });
  await admin.put('/api/sources/local/wire-log', { enabled: false });
  const log = JSON.stringify((await admin.get('/api/sources/local/logs?wire=true')).json);
  expect(log).toContain('it is ***');
  expect(log).not.toContain(oauth.tokenOf('alice'));
});
