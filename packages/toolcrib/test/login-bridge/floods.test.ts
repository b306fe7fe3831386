import { expect, test } from 'vitest';
import { createClientRegistration } from '../../src/login-bridge/client-registration.ts';
import { createRecordAdapters, hashOf } from '../../src/login-bridge/record-adapter.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { createStore } from '../../src/store/store.ts';
import { temporaryDirectory } from '../running-server.ts';
import { startDevelopmentBridge } from './development-bridge.ts';
import { callback, postJson, PublicClient } from './public-client.ts';

test('[LOGIN-3] registrations that come too often are refused, and logins of known clients go on', async () => {
  await using bridge = await startDevelopmentBridge();
  const known = await PublicClient.register(bridge.url);
  const answers = await Promise.all(
    Array.from({ length: 80 }, () => postJson(`${bridge.url}/login/register`, { redirect_uris: [callback] })),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(20);
  expect([refused[0]?.json.error, Number(refused[0]?.headers.get('retry-after'))]).toEqual(['temporarily_unavailable', expect.any(Number)]);
  await bridge.logIn(known);
});

test.each([
  ['that is no JSON', 'no json', 400],
  ['that is huge', JSON.stringify({ redirect_uris: [callback], client_name: 'x'.repeat(40_000) }), 413],
  ['with a thousand addresses', { redirect_uris: Array.from({ length: 400 }, (_, n) => `https://a.b/${n}`) }, 400],
  ['without an address', { client_name: 'x' }, 400],
  ['for passwords', { redirect_uris: [callback], grant_types: ['password'] }, 400],
  ['with the name of a prototype', '{"redirect_uris":["https://a.b/"],"__proto__":{"x":1}}', 400],
])('[LOGIN-3] a registration %s is refused', async (_what, body, status) => {
  await using bridge = await startDevelopmentBridge();
  expect((await postJson(`${bridge.url}/login/register`, body)).status).toBe(status);
});

test('[LOGIN-3] a client that asks for a secret, or for more, is given an id and nothing else', async () => {
  await using bridge = await startDevelopmentBridge();
  const asked = {
    redirect_uris: [callback],
    token_endpoint_auth_method: 'client_secret_basic',
    scope: 'admin',
    jwks_uri: 'http://127.0.0.1/',
    logo_uri: 'http://evil/',
  };
  const { json } = await postJson(`${bridge.url}/login/register`, asked);
  expect(json).toMatchObject({ token_endpoint_auth_method: 'none', scope: 'mcp' });
  expect(Object.keys(json)).not.toEqual(expect.arrayContaining(['client_secret']));
  for (const field of ['client_secret', 'jwks_uri', 'logo_uri', 'registration_access_token']) expect(json).not.toHaveProperty(field);
});

test('[LOGIN-3] where too many clients are registered, those go first that nobody has used', async () => {
  await using folder = await temporaryDirectory();
  await using database = await openDatabase({ file: `${folder.path}/database` });
  const store = createStore(database);
  let now = 1;
  const clients = createRecordAdapters({
    records: store.loginRecords,
    now: () => now,
    onReplay: async () => {},
    replayed: () => new Error(),
  })('Client');
  const provider = { Client: { validate: async () => {} } };
  const register = createClientRegistration({ store, provider: () => provider as never, clients, now: () => now, most: 20 });
  const ids: string[] = [];
  for (; now <= 20; now++) ids.push(((await register({ redirect_uris: [callback] }, '')) as { client_id: string }).client_id);
  await store.loginRecords.use('Client', hashOf(ids[0] ?? ''), { now: 2, until: 1e12 });
  for (; now <= 60; now++) await register({ redirect_uris: [callback] }, '');
  expect(await store.loginRecords.count('Client')).toBe(20);
  expect(await clients.find(ids[0] ?? '')).toMatchObject({ client_id: ids[0] });
  for (const id of ids.slice(1)) expect(await clients.find(id)).toBeUndefined();
});
