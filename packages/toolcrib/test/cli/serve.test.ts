import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { ApiClient } from '../fixtures/api-client.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { devToken, temporaryDirectory } from '../running-server.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { runToolcrib } from './run-toolcrib.ts';
import { startServing } from './serving.ts';

describe('a running server', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('[CLI-1] stops cleanly on %s', async (signal) => {
    await using server = await startServing();
    server.child.kill(signal);
    const { code, stdout, stderr } = await server.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/\nStopping…\n$/);
    expect(stderr).toContain('"msg":"stopped"');
  });

  test('[CLI-1] counts one Ctrl-C that arrives several times as one', async () => {
    await using server = await startServing();
    for (let times = 0; times < 3; times++) server.child.kill('SIGINT');
    expect(await server.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('"msg":"stopped"') });
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('[CLI-1] ends at once on a second %s, whatever still runs', async (signal, expected) => {
    await using server = await startServing(['--drain', '600000']);
    await server.beginLongCall();
    server.child.kill(signal);
    await server.printed('Stopping…');
    // A signal right after the first counts as the same one, so the second is sent until it takes effect.
    let ended: { code: number | null } | undefined;
    while (ended === undefined) {
      server.child.kill(signal);
      ended = await Promise.race([server.ended, pause(100, undefined)]);
    }
    expect(ended.code).toBe(expected);
  });

  test('[CLI-1] waits for running calls as long as --drain says', async () => {
    await using server = await startServing(['--drain', '0']);
    await server.beginLongCall();
    server.child.kill('SIGINT');
    expect((await server.ended).code).toBe(0);
  });
});

describe('a server that cannot start says why in one line', () => {
  const oneLine = /^toolcrib: [^\n]+\n$/;

  test('[CLI-1] when the port is taken', async () => {
    await using other = await startHttpServer((_request, response) => response.end());
    await using data = await temporaryDirectory();
    const { code, stdout, stderr } = await runToolcrib(['serve', '--port', String(other.port), '--data', data.path]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(oneLine);
    expect(stderr).toMatch(new RegExp(`${other.port}.*--port`));
  });

  test('[CLI-1] when another server has the data folder', async () => {
    await using first = await startServing();
    const { code, stderr } = await runToolcrib(['serve', '--port', '0', '--data', first.data]);
    expect(code).toBe(1);
    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain(`Another Toolcrib server is using the data directory ${first.data}`);
  });

  test('[CLI-1] when the data folder is a file; --log-level debug shows the stack as well', async () => {
    await using folder = await temporaryDirectory();
    const file = join(folder.path, 'file');
    await writeFile(file, '');
    const args = ['serve', '--port', '0', '--data', file];
    const { code, stderr } = await runToolcrib(args);
    expect(code).toBe(1);
    expect(stderr).toMatch(oneLine);
    expect((await runToolcrib([...args, '--log-level', 'debug'])).stderr).toMatch(/\n {4}at /);
  });

  test('[CLI-1] when the database cannot be reached, without its password', async () => {
    await using data = await temporaryDirectory();
    const env = { TOOLCRIB_DATABASE: 'postgres://crib:sesame@127.0.0.1:9/crib' };
    const { code, stderr } = await runToolcrib(['serve', '--port', '0', '--data', data.path], { env });
    expect(code).toBe(1);
    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain('127.0.0.1:9/crib');
    expect(stderr).not.toContain('sesame');
  });

  test('[CLI-1] when the address is not of this machine', async () => {
    await using data = await temporaryDirectory();
    // RFC 5737: an address for documentation, which no machine has.
    const args = ['serve', '--port', '0', '--host', '192.0.2.1', '--issuer', 'http://127.0.0.1:9', '--data', data.path];
    const { code, stderr } = await runToolcrib(args);
    expect(code).toBe(1);
    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain('192.0.2.1 is not an address of this machine: choose another with --host');
  });
});

test('[ID-1] with an issuer there is no development mode and no token in the banner', async () => {
  await using issuer = await startTokenIssuer();
  await using server = await startServing([], { TOOLCRIB_ISSUERS: issuer.issuer, NODE_ENV: 'production' });
  expect(server.banner).toContain(issuer.issuer);
  expect(server.banner).not.toMatch(/development|Bearer|curl/);
  const client = new ApiClient(server.url, await issuer.sign({ realm_access: { roles: ['toolcrib-admin'] } }));
  expect((await client.get('/api/sources')).status).toBe(200);
});

test('[BFF-6] --admin-claim says who administers', async () => {
  await using server = await startServing(['--admin-claim', 'department=kitchen']);
  const status = async (user: string) => (await new ApiClient(server.url, await devToken(server.url, user)).get('/api/sources')).status;
  expect([await status('bob'), await status('admin')]).toEqual([200, 403]);
});

test('[CLI-1] --log-level silent leaves standard error empty', async () => {
  await using server = await startServing(['--log-level', 'silent']);
  server.child.kill('SIGTERM');
  expect(await server.ended).toMatchObject({ code: 0, stderr: '' });
});

const postgres = part('postgres');
test.skipIf(!postgres.available)('[CLI-1] on PostgreSQL the banner names the database without its password', async () => {
  await using database = await freshPostgresDatabase();
  const url = new URL(database.url);
  url.password = 'sesame';
  await using server = await startServing(['--database', url.href]);
  expect(server.banner).toContain(`PostgreSQL at ${url.host}${url.pathname}`);
  expect(server.banner).not.toContain('sesame');
});

test.each(['/proc/nope', '/proc', '/sys/nope', '/dev/null', '/dev/null/data'])(
  '[CLI-1] a data folder that cannot be used, %s, ends the start with a message, and the doctor reports it too',
  async (data) => {
    const { code, stderr } = await runToolcrib(['serve', '--port', '0', '--data', data]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/The data directory .* cannot be used: .*Check that the path is right/);
    const { stdout } = await runToolcrib(['doctor', '--json', '--data', data]);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string }[] };
    expect(checks.find(({ name }) => name === 'data folder')?.state).toBe('broken');
  },
);
