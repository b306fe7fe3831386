import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { developmentPolicies } from '../../src/store/migrations/2026-11-22-development-policies.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { runToolcrib } from '../cli/run-toolcrib.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { writtenKey } from '../secrets/key-rings.ts';
import { adminClaims, devToken, spawnServer, startTestServer, temporaryDirectory, until, userClaims } from '../running-server.ts';

const matchers = [{ path: 'realm_access.roles', operator: 'contains', value: 'toolcrib-user' }];
const mine = { id: 'mine', name: 'Made by hand in development', matchers, groups: ['builtin-tools'] };

const enabled = async (admin: ApiClient) => {
  const { sources } = (await admin.get('/api/sources')).json as { sources: { namespace: string; enabled: boolean }[] };
  return Object.fromEntries(sources.map(({ namespace, enabled: on }) => [namespace, on]));
};

describe.each([
  ['the embedded database', undefined],
  ['PostgreSQL', part('postgres')],
])('[POL-1] [ID-1] a data folder of development, on %s', (_name, postgres) => {
  const skipped = postgres?.available === false;
  const stack = new AsyncDisposableStack();
  const keys = writtenKey('shared');
  let place: { dataDir: string; databaseUrl?: string; keys?: string };
  let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;

  beforeAll(async () => {
    if (skipped) return;
    issuer = stack.use(await startTokenIssuer());
    place = { dataDir: stack.use(await temporaryDirectory()).path };
    if (postgres !== undefined) place = { ...place, keys, databaseUrl: stack.use(await freshPostgresDatabase()).url };
    await using development = await startTestServer({ ...place, demo: true });
    const [admin, alice] = [await development.as('admin'), await development.as('alice')];
    for (const demo of ['demo:bake_pizza', 'pizzeria:place_order']) await until(async () => (await alice.listedNames()).includes(demo));
    await admin.post('/api/policies', mine);
  });
  afterAll(() => stack.disposeAsync());

  test.skipIf(skipped)('grants nothing to users of an issuer, and its demos are switched off', async () => {
    await using server = await startTestServer({ ...place, issuers: [issuer.config] });
    const [admin, user] = [server.client(await issuer.sign(adminClaims)), server.client(await issuer.sign(userClaims))];
    expect(await user.listedNames()).toEqual([]);
    expect((await user.call('builtin:calculator', { expression: '6 * 7' })).status).toBe(404);
    expect(await enabled(admin)).toMatchObject({ demo: false, pizzeria: false });
    expect((await admin.get('/api/policies/mine')).json).toMatchObject({ managed_by: 'development', enabled: true });
    const { policies } = (await admin.post('/api/policies/explain', { claims: userClaims })).json;
    expect(policies.map(({ id, reason }: { id: string; reason: string }) => [id, reason])).toEqual(
      ['mine', 'users-use-builtin-tools', 'users-use-every-tool'].map((id) => [id, expect.stringContaining('it is from development')]),
    );
  });

  test.skipIf(skipped)('is mentioned in the log and by doctor', async () => {
    const options = ['--data', place.dataDir, '--issuer', issuer.issuer];
    const env: Record<string, string> =
      place.databaseUrl === undefined ? {} : { TOOLCRIB_DATABASE: place.databaseUrl, TOOLCRIB_KEYS: keys };
    await using server = await spawnServer(options, env);
    const warned = server.log.find((line) => line.includes('policies from development grant nothing')) ?? '{}';
    expect(JSON.parse(warned)).toMatchObject({ policies: ['mine', 'users-use-builtin-tools', 'users-use-every-tool'] });
    const { stdout } = await runToolcrib(['doctor', '--json', '--port', '0', ...options], { env });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; detail: string }[] };
    expect(checks.find(({ name }) => name === 'policies')?.detail).toMatch(/^mine, users-use-builtin-tools, users-use-every-tool are from/);
  });

  test.skipIf(skipped)('works as before when the issuer is removed again', async () => {
    await using development = await startTestServer({ ...place, demo: true });
    const [admin, alice] = [await development.as('admin'), await development.as('alice')];
    await until(async () => Object.values(await enabled(admin)).every(Boolean));
    await until(async () => (await alice.listedNames()).includes('demo:bake_pizza'));
    expect(await alice.listedNames()).toContain('builtin:calculator');
  });

  test.skipIf(skipped)('keeps what an administrator of the issuer saves again, and deletes nothing', async () => {
    await using server = await startTestServer({ ...place, issuers: [issuer.config] });
    const [admin, user] = [server.client(await issuer.sign(adminClaims)), server.client(await issuer.sign(userClaims))];
    const { id: _id, ...input } = mine;
    expect((await admin.put('/api/policies/mine', input)).json).toMatchObject({ managed_by: null });
    expect(await user.listedNames()).toContain('builtin:calculator');
    expect(await user.listedNames()).not.toContain('demo:bake_pizza');
  });
});

test('[ID-1] a development token is refused once an issuer is configured', async () => {
  await using issuer = await startTokenIssuer();
  await using data = await temporaryDirectory();
  const development = await spawnServer(['--data', data.path]);
  const token = await devToken(development.url, 'admin');
  await development[Symbol.asyncDispose]();
  await using server = await startTestServer({ dataDir: data.path, issuers: [issuer.config] });
  expect((await server.client(token).get('/api/policies')).status).toBe(401);
});

test('[POL-1] development policies of an earlier version end as well', async () => {
  await using issuer = await startTokenIssuer();
  await using data = await temporaryDirectory();
  const development = await startTestServer({ dataDir: data.path, demo: true });
  expect(await (await development.as('alice')).listedNames()).toContain('builtin:calculator');
  await development[Symbol.asyncDispose]();
  // As that version left them, and the step that every later one takes.
  await using database = await openSqlite(join(data.path, 'toolcrib.db'));
  database.connection.exec('update policies set managed_by = null');
  await developmentPolicies.up(database.kysely);
  await using server = await startTestServer({ dataDir: data.path, issuers: [issuer.config] });
  expect(await server.client(await issuer.sign(userClaims)).listedNames()).toEqual([]);
});
