import { chmod, copyFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runRulesSchema } from '../../src/model/run-rules.ts';
import { openRunAccount } from '../../src/sources/mcp/process/run-account.ts';
import { fixture as ownFixture, fixtureRules, grantEverything, startOpenServer } from '../fixtures/open-server.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { processesMarked, processOwner } from '../fixtures/process-table.ts';
import { adminClaims, devToken, spawnServer, startServerWithIssuer, startTestServer, until, untilSeen } from '../running-server.ts';

const isRoot = process.getuid?.() === 0;
/** Nobody in particular, whom every system lets be. */
const [uid, gid] = [64_321, 64_322];

/** Node and the fixture server where everybody may read them: the checkout may be somebody's own. */
let shared: string;
beforeAll(async () => {
  shared = await openFolder();
  const [node = '', program = ''] = ownFixture();
  await copyFile(node, join(shared, 'node'));
  await chmod(join(shared, 'node'), 0o755);
  await cp(join(program, '..'), join(shared, 'mcp'), { recursive: true });
  await writeFile(join(shared, 'package.json'), '{"type": "module"}');
});
afterAll(() => rm(shared, { recursive: true, force: true }));
const fixture = (...mode: string[]) => [join(shared, 'node'), join(shared, 'mcp', 'server.js'), ...mode];
const rulesFor = (user: string) =>
  runRulesSchema.parse({ runtimes: ['node'], programs: [...fixture(), join(shared, 'plugin/**')], variables: ['MARK'], user });
const otherUser = `${uid}:${gid}`;

/** Everybody may enter it. */
async function openFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolcrib-user-'));
  await chmod(folder, 0o755);
  return folder;
}

/** Within such a folder, so that another user can have its home beside the data. */
async function dataFolder() {
  const folder = await openFolder();
  return { path: join(folder, 'data'), [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

describe.skipIf(!isRoot)('servers that run as another user, which only root can start', () => {
  test('[SEC-2] have its rights, its home and none of our groups, and cannot reach the data', async () => {
    await using data = await dataFolder();
    await using server = await startOpenServer({ dataDir: data.path, runRules: rulesFor(otherUser), keys: undefined });
    const { json } = await server.admin.post('/api/sources?wait=20000', { name: 'Other', mcp_command: fixture('plain') });
    expect(json.status).toMatchObject({ state: 'running' });
    const tell = async (name: string, args: object = {}) => (await server.alice.call(`other:${name}`, args)).json.content[0].text as string;
    const home = `${data.path}-home`;
    expect(JSON.parse(await tell('account'))).toEqual({ uid, gid, groups: [gid], home, writable: ['yes', 'yes'] });
    for (const path of ['', '/keys.json', '/toolcrib.db', '/dev-issuer.json'])
      expect([path, await tell('read', { path: data.path + path })]).toEqual([path, 'EACCES']);
    expect(JSON.parse(await tell('process')).cwd).toBe(home);
  });

  test('[SEC-2] can read neither the keys, nor the database, nor the arguments of the gateway, with an issuer', async () => {
    await using data = await dataFolder();
    await using production = await startServerWithIssuer({ dataDir: data.path, runRules: rulesFor(otherUser) });
    const admin = await production.signedIn(adminClaims);
    await grantEverything(admin);
    const plugin = join(shared, 'plugin');
    await cp(join(shared, 'mcp'), plugin, { recursive: true });
    const forms = [
      { mcp_command: fixture('plain') },
      { mcp_plugin_dir: plugin, mcp_command: [join(shared, 'node'), 'server.js', 'plain'] },
    ];
    for (const [index, form] of forms.entries()) {
      const name = `local-${index}`;
      const { json } = await admin.post('/api/sources?wait=20000', { name, mcp_lifecycle_mode: 'singleton', ...form });
      expect(json.status).toMatchObject({ state: 'running' });
      const tell = async (path: string) => (await admin.call(`${name}:read`, { path })).json.content[0].text as string;
      const files = ['', '/keys.json', '/toolcrib.db', '/toolcrib.db-wal'].map((file) => data.path + file);
      for (const path of [...files, `/proc/${process.pid}/environ`, `/proc/${process.pid}/mem`])
        expect([path, await tell(path)]).toEqual([path, 'EACCES']);
    }
  });

  test('[SEC-2] [LIFE-5] are stopped, and ended by the next start if the gateway was killed', async () => {
    await using data = await dataFolder();
    const file = join(data.path, '..', 'rules.yaml');
    await writeFile(file, JSON.stringify(rulesFor(otherUser)));
    const mark = `USER_TEST_${process.pid}_${Date.now()}`;
    const living = () => processesMarked(mark);
    {
      await using server = await spawnServer(['--data', data.path, '--run-rules', file]);
      const admin = server.client(await devToken(server.url, 'admin'));
      const form = { mcp_command: fixture('forks', '1', 'stubborn'), mcp_lifecycle_mode: 'singleton', mcp_env_vars: { MARK: mark } };
      const { json: stopped } = await admin.post('/api/sources?wait=20000', { name: 'Stopped', ...form });
      expect(stopped.status).toMatchObject({ state: 'running' });
      await untilSeen(() => living().length === 2);
      expect(new Set(living().map(({ pid }) => processOwner(pid)))).toEqual(new Set([uid]));
      await admin.post(`/api/sources/${stopped.id}/stop`, undefined);
      expect(living()).toEqual([]);
      await admin.post('/api/sources?wait=20000', { name: 'Left behind', ...form });
      await untilSeen(() => living().length === 2);
    }
    expect(living().length).toBeGreaterThan(0);
    await using next = await spawnServer(['--data', data.path, '--run-rules', file]);
    const admin = next.client(await devToken(next.url, 'admin'));
    await until(async () => (await admin.get('/api/sources/left-behind')).json.status.state === 'running');
    expect(next.log.join('\n')).toContain('left behind were ended');
    // The server is killed when the test ends, and nobody starts another to end these.
    for (const name of ['stopped', 'left-behind']) await admin.post(`/api/sources/${name}/stop`, undefined);
    expect(living()).toEqual([]);
  });

  test.each([
    ['root', 'it is root'],
    ['0:100', 'it is root'],
    ['no-such-user-here', 'there is no such user'],
  ])('[SEC-2] are refused for the user %s', async (user, why) => {
    await using data = await dataFolder();
    await expect(startTestServer({ dataDir: data.path, runRules: rulesFor(user) })).rejects.toThrow(why);
  });

  test('[SEC-2] are refused at the start if the user cannot reach their home', async () => {
    await using data = await dataFolder();
    await chmod(join(data.path, '..'), 0o700);
    await expect(startTestServer({ dataDir: data.path, runRules: rulesFor(otherUser) })).rejects.toThrow('it cannot reach');
  });
});

test.skipIf(isRoot)('[SEC-2] another user needs root', async () => {
  await using data = await dataFolder();
  expect(() => openRunAccount(otherUser, data.path)).toThrow('Servers cannot run as the user');
});

describe("with an issuer, the gateway's own user", () => {
  const sayHow = 'name another `user`, or run the server in a container, or accept it with `same_user: true`';

  test('[SEC-2] runs no local server unless the rules accept that it can read the keys', async () => {
    await using data = await dataFolder();
    const mark = `OWN_TEST_${process.pid}_${Date.now()}`;
    const form = { mcp_command: ownFixture('plain'), mcp_lifecycle_mode: 'singleton', mcp_env_vars: { MARK: mark } };
    {
      // In development everything stays as it is, rules or not.
      await using development = await startTestServer({ dataDir: data.path, runRules: { ...fixtureRules, same_user: false } });
      const { json } = await (await development.as('admin')).post('/api/sources?wait=20000', { name: 'Before', ...form });
      expect(json.status.state).toBe('running');
    }
    {
      await using refusing = await startServerWithIssuer({ dataDir: data.path, runRules: { ...fixtureRules, same_user: false } });
      const admin = await refusing.signedIn(adminClaims);
      const refused = await admin.post('/api/sources', { name: 'After', ...form });
      expect([refused.status, refused.json]).toEqual([403, expect.objectContaining({ message: expect.stringContaining(sayHow) })]);
      const tried = await admin.post('/api/sources/preview?discover=true', { name: 'After', ...form });
      expect(tried.json).toMatchObject({ tools: null, error: { code: 'FORBIDDEN' } });
      expect((await admin.post('/api/sources/before/start', undefined)).json.message).toContain(sayHow);
      expect((await admin.get('/api/sources/before')).json.status).toMatchObject({ state: 'error' });
      expect(processesMarked(mark)).toEqual([]);
    }
    await using accepting = await startServerWithIssuer({ dataDir: data.path, runRules: fixtureRules });
    const admin = await accepting.signedIn(adminClaims);
    await until(async () => (await admin.get('/api/sources/before')).json.status.state === 'running');
  });

  test('[SEC-2] is named in the log if it was accepted', async () => {
    await using data = await dataFolder();
    await using issuer = await startTokenIssuer();
    const file = join(data.path, '..', 'rules.yaml');
    await writeFile(file, 'runtimes: [npx]\nsame_user: true\n');
    const args = ['--issuer', issuer.config.issuer, '--audience', 'any', '--data', data.path, '--run-rules', file];
    await using server = await spawnServer(args);
    expect(server.log.join('\n')).toContain('same_user in the run rules');
  });
});
