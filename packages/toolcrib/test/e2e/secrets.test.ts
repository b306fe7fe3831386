import { randomBytes } from 'node:crypto';
import { readdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { secretListSchema, setSecretSchema } from '../../src/api.ts';
import type { ApiClient, Reply } from '../fixtures/api-client.ts';
import { documentedOperations } from '../fixtures/documented-operations.ts';
import { fixture, fixtureRules, grantEverything } from '../fixtures/open-server.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { freshPostgresDatabase, type FreshDatabase, part } from '../parts.ts';
import {
  adminClaims,
  devToken,
  spawnServer,
  startTestServer,
  temporaryDirectory,
  type TestServer,
  until,
  userClaims,
} from '../running-server.ts';
import { writtenKey } from '../secrets/key-rings.ts';

const outcome = ({ status, json }: Reply) => ({ status, ...json });

describe('[BFF-6] /api/secrets', () => {
  let server: TestServer;
  let admin: ApiClient;
  beforeAll(async () => {
    server = await startTestServer();
    admin = await server.as('admin');
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const names = async () => secretListSchema.parse((await admin.get('/api/secrets')).json).secrets.map(({ name }) => name);

  test('creates, replaces, lists and deletes secrets, and shows only names and dates', async () => {
    const made = await admin.put('/api/secrets/github-token', { value: 'hunter2' });
    expect(made.status).toBe(201);
    const { created_at } = setSecretSchema.parse(made.json);
    expect(outcome(await admin.put('/api/secrets/github-token', { value: 'hunter3' }))).toMatchObject({ status: 200, created_at });
    expect(await names()).toEqual(['github-token']);
    expect((await admin.delete('/api/secrets/github-token')).status).toBe(204);
    expect(outcome(await admin.delete('/api/secrets/github-token'))).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect(await names()).toEqual([]);
  });

  test('[ENV-4] keeps the stored value for ***, and refuses it where nothing is stored', async () => {
    expect(outcome(await admin.put('/api/secrets/kept', { value: '***' }))).toMatchObject({ status: 400, field: 'value' });
    const { json } = await admin.put('/api/secrets/kept', { value: 'hunter2' });
    expect(outcome(await admin.put('/api/secrets/kept', { value: '***' }))).toEqual({ status: 200, ...json });
    await admin.delete('/api/secrets/kept');
  });

  test.each([
    ['a value that is no text', 'a', { value: 7 }, 'value'],
    ['no value', 'a', {}, 'value'],
    ['an empty value', 'a', { value: '' }, 'value'],
    ['a value that is too long', 'a', { value: 'x'.repeat(65_537) }, 'value'],
    ['half a surrogate pair', 'a', { value: '\ud800' }, 'value'],
    ['anything more', 'a', { value: 'x', note: 'y' }, 'note'],
    ['a name with a space', 'a%20b', { value: 'x' }, 'name'],
    ['a name with a slash', 'a%2Fb', { value: 'x' }, 'name'],
    ['a name that begins with a dot', '.a', { value: 'x' }, 'name'],
    ['a name that is too long', 'a'.repeat(201), { value: 'x' }, 'name'],
  ])('refuses %s', async (_what, name, body, field) => {
    expect(outcome(await admin.put(`/api/secrets/${name}`, body))).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', field });
    expect(await names()).toEqual([]);
  });

  test('offers no way to read a value', async () => {
    await admin.put('/api/secrets/token', { value: 'hunter2' });
    expect((await admin.get('/api/secrets/token')).status).toBe(404);
    await admin.delete('/api/secrets/token');
  });
});

test('[ENV-4] the value of a secret appears in no answer, event, log line or file, whatever is done with it', async () => {
  await using data = await temporaryDirectory();
  const canary = `canary-${randomBytes(12).toString('hex')}`;
  const answers: string[] = [];
  let log: string[];
  {
    await using server = await spawnServer(['--data', data.path, '--log-level', 'trace']);
    ({ log } = server);
    const admin = server.client(await devToken(server.url, 'admin'));
    const alice = server.client(await devToken(server.url, 'alice'));
    const ask = async (client: ApiClient, method: string, path: string, body?: unknown) => {
      const reply = await client.request(method, path, body === undefined ? {} : { body });
      answers.push(reply.text, JSON.stringify([...reply.headers]));
      return reply;
    };
    expect((await ask(admin, 'PUT', '/api/secrets/token', { value: canary })).status).toBe(201);
    expect((await ask(admin, 'PUT', '/api/secrets/token', { value: `${canary}2` })).status).toBe(200);
    // Everything that goes wrong with a value in hand.
    await ask(alice, 'PUT', '/api/secrets/token', { value: canary });
    await ask(server.client(), 'PUT', '/api/secrets/token', { value: canary });
    await ask(admin, 'PUT', '/api/secrets/token', `{"value": "${canary}"`);
    await ask(admin, 'PUT', '/api/secrets/token', { value: [canary] });
    await ask(admin, 'PUT', '/api/secrets/token', { value: canary, more: canary });
    await ask(admin, 'PUT', '/api/secrets/token', { value: canary.repeat(3000) });
    await ask(admin, 'POST', '/api/secrets', { name: 'token', value: canary });

    // [ENV-1] A real server that prints its own environment, in a result and in its log.
    const registration = {
      name: 'Printer',
      mcp_command: fixture('plain'),
      mcp_env_vars: { TOKEN: { secret_ref: 'token' }, ADDRESS: 'https://x.test/?k=${TOKEN}', SET_OUTRIGHT_TOKEN: `outright-${canary}` },
    };
    const { json: source } = await ask(admin, 'POST', '/api/sources?wait=60000', registration);
    expect(source.status).toMatchObject({ state: 'running' });
    await admin.post('/api/groups', { id: 'printer', name: 'Printer', selectors: [{ source: source.id }] });
    await admin.post('/api/policies', { name: 'All', matchers: [{ path: 'sub', operator: 'exists' }], groups: ['printer'] });
    const call = (name: string, args: object) => ask(admin, 'POST', '/api/bff/tools/call', { name: `printer:${name}`, arguments: args });
    const { json: printed } = await call('environment', {});
    expect(printed.result).toMatchObject({ TOKEN: '***', ADDRESS: 'https://x.test/?k=***', SET_OUTRIGHT_TOKEN: '***' });
    for (const say of ['stderr', 'fail', 'error', 'crash']) await call('environment', { name: 'TOKEN', say });
    // A caller who sends it gets it back, but it is stored nowhere.
    await admin.call('printer:stderr', { text: `it is ${canary}2` });
    await admin.call('printer:fail', { text: `it is not ${canary}2` });
    await admin.call('printer:crash', { code: 3, words: `dying with ${canary}2` });

    for (const { method, path, operationId } of await documentedOperations(server.url)) {
      if (method !== 'GET' || operationId === 'followTools') continue;
      if (path.includes('{')) await ask(admin, method, path.replace(/\{\w+\}/, source.id));
      else await ask(admin, method, path);
    }
    const { json } = await ask(admin, 'GET', '/api/events?topic=secret');
    expect(json.events.at(-1)).toMatchObject({ kind: 'secret-set', subject: 'token', before: null, after: '***' });
    server.child.kill('SIGTERM');
    await server.ended;
  }
  const found = answers.filter((answer) => answer.includes(canary));
  expect(found).toEqual([]);
  expect(log.length).toBeGreaterThan(0);
  expect(log.filter((line) => line.includes(canary))).toEqual([]);
  const files = (await readdir(data.path, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(['toolcrib.db', 'keys.json']));
  for (const { parentPath, name } of files) {
    const bytes = await readFile(join(parentPath, name));
    expect([name, bytes.includes(canary), bytes.includes(Buffer.from(canary).toString('base64').slice(0, 20))]).toEqual([
      name,
      false,
      false,
    ]);
  }
});

test('[SEC-3] a server whose keys were lost does not start, and changes nothing', async () => {
  await using data = await temporaryDirectory();
  const keys = join(data.path, 'keys.json');
  {
    await using server = await startTestServer({ dataDir: data.path });
    await (await server.as('admin')).put('/api/secrets/token', { value: 'hunter2' });
  }
  await rename(keys, `${keys}.lost`);
  await expect(startTestServer({ dataDir: data.path })).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: expect.stringMatching(/There are no keys.*Nothing was changed.*TOOLCRIB_KEYS/),
  });
  // Another file in its place would be taken for the right one from then on.
  await expect(stat(keys)).rejects.toMatchObject({ code: 'ENOENT' });
  await rename(`${keys}.lost`, keys);
  await using server = await startTestServer({ dataDir: data.path });
  const admin = await server.as('admin');
  expect((await admin.get('/api/secrets')).json.secrets).toMatchObject([{ name: 'token' }]);
  expect((await admin.put('/api/secrets/token', { value: 'hunter3' })).status).toBe(200);
});

const postgres = part('postgres');

describe.skipIf(!postgres.available)('[SEC-3] servers on one PostgreSQL', () => {
  const keys = writtenKey('shared');
  let database: FreshDatabase;
  let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;
  let servers: TestServer[];
  let admins: ApiClient[];
  beforeAll(async () => {
    database = await freshPostgresDatabase();
    issuer = await startTokenIssuer();
    const config = { databaseUrl: database.url, issuers: [issuer.config], keys, runRules: fixtureRules };
    servers = await Promise.all([startTestServer(config), startTestServer(config)]);
    const token = await issuer.sign(adminClaims);
    admins = servers.map((server) => server.client(token));
  });
  afterAll(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  test('that share their keys use a secret that was changed on either', async () => {
    const [first, second] = admins as [ApiClient, ApiClient];
    // Too short to be hidden, so that the server's own words show which value it was started with.
    await first.put('/api/secrets/shared', { value: 'v1' });
    const registration = {
      name: 'Printer',
      mcp_command: fixture('plain'),
      mcp_env_vars: { SHARED: { secret_ref: 'shared' } },
    };
    const { json: source } = await second.post('/api/sources?wait=60000', registration);
    expect(source.status).toMatchObject({ state: 'running' });
    await second.post('/api/groups', { id: 'printer', name: 'Printer', selectors: [{ source: source.id }] });
    const matchers = [{ path: 'sub', operator: 'exists' }];
    await second.post('/api/policies', { name: 'All', matchers, groups: ['printer'] });
    const user = servers[1]?.client(await issuer.sign(userClaims)) as ApiClient;
    const seen = async () => (await user.call('printer:environment')).json.result?.SHARED as string;
    expect(await seen()).toBe('v1');
    for (const [index, value] of ['v2', 'v3', 'v4'].entries()) {
      await (index % 2 === 0 ? first : second).put('/api/secrets/shared', { value });
      await until(async () => (await seen()) === value);
    }
  });

  test('[ENV-1] each restart a singleton when its secret was changed on one of them', async () => {
    const [first, second] = admins as [ApiClient, ApiClient];
    await first.put('/api/secrets/rotated', { value: 'v1' });
    const variables = { ROTATED: { secret_ref: 'rotated' } };
    const form = { name: 'Lasting', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton', mcp_env_vars: variables };
    await second.post('/api/sources?wait=60000', form);
    await grantEverything(first);
    const seen = async (admin: ApiClient) => (await admin.call('lasting:environment')).json.result?.ROTATED as string;
    for (const admin of admins) await until(async () => (await seen(admin)) === 'v1');
    await first.put('/api/secrets/rotated', { value: 'v2' });
    expect(await seen(first)).toBe('v2');
    await until(async () => (await seen(second)) === 'v2');
  });

  test('refuse a server with other keys, which overwrites nothing', async () => {
    const config = { databaseUrl: database.url, issuers: [issuer.config] };
    await admins[0]?.put('/api/secrets/another', { value: 'hunter2' });
    const refusal = { code: 'CONFLICT', message: expect.stringMatching(/key this server does not have \(shared\)/) };
    await expect(startTestServer({ ...config, keys: writtenKey('other') })).rejects.toMatchObject(refusal);
    // The same without any: it makes a key of its own, which is not that of the others.
    await expect(startTestServer(config)).rejects.toMatchObject(refusal);
    expect(await admins[0]?.put('/api/secrets/another', { value: 'hunter3' })).toMatchObject({ status: 200 });
  });
});
