import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explanationSchema, toolListSchema } from '../../src/api.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { startServerWithIssuer, temporaryDirectory, userClaims } from '../running-server.ts';
import { launcher, runToolcrib, type RunOptions } from './run-toolcrib.ts';
import { startServing } from './serving.ts';

let server: Awaited<ReturnType<typeof startServing>>;
beforeAll(async () => {
  server = await startServing();
});
afterAll(() => server[Symbol.asyncDispose]());

const run = (args: string[], options: RunOptions = {}) =>
  runToolcrib(args, { ...options, env: { TOOLCRIB_URL: server.url, ...options.env } });

describe('the banner of serve', () => {
  test('[CLI-1] says the address, the mode, how many tools there are, and where the data is', () => {
    expect(server.banner).toMatch(/Address +http:\/\/127\.0\.0\.1:\d+\n/);
    expect(server.banner).toMatch(/Mode +development/);
    expect(server.banner).toMatch(/Tools +[1-9]\d*\n/);
    expect(server.banner).toContain(server.data);
  });

  test.skipIf(spawnSync('curl', ['--version']).status !== 0)('[CLI-1] has a curl command that works as it stands', async () => {
    const command = /^curl (.*\\\n)*.*$/m.exec(server.banner)?.[0] ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    expect(JSON.parse(stdout)).toMatchObject({ success: true, text: '42' });
  });
});

describe('token', () => {
  test('[CLI-1] prints a token that the other commands take', async () => {
    const { code, stdout, stderr } = await run(['token', 'bob']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    // With its line break, as a script may well pass it on.
    expect(await run(['tools'], { env: { TOOLCRIB_TOKEN: stdout } })).toMatchObject({ code: 0, stderr: '' });
  });

  test('[CLI-1] prints the whole response with --json', async () => {
    const { stdout } = await run(['token', 'alice', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 3600 });
  });

  test('[CLI-1] names the known users when asked for an unknown one', async () => {
    const { code, stdout, stderr } = await run(['token', 'mallory']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe('toolcrib: There is no such user: use alice, bob, admin\n');
  });
});

describe('toolcrib tools', () => {
  test('[CLI-1] prints an aligned table of names and descriptions, and says on stderr who asks', async () => {
    const { code, stdout, stderr } = await run(['tools']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^builtin:calculator {2,}Works out one arithmetic expression/m);
    const columns = stdout
      .trimEnd()
      .split('\n')
      .map((line) => /^\S+ +/.exec(line)?.[0].length);
    expect(new Set(columns).size).toBe(1);
    expect(stderr).toContain('calling as alice');
  });

  test('[CLI-1] lists the tools of another user with --as, without a word on stderr', async () => {
    expect(await run(['tools', '--as', 'bob'])).toMatchObject({ code: 0, stderr: '' });
  });

  test('[CLI-1] prints the answer of the API with --json', async () => {
    const { stdout } = await run(['tools', '--json', '--as', 'alice']);
    const list = toolListSchema.parse(JSON.parse(stdout));
    expect(list.tools).toHaveLength(list.total);
    expect(list.tools.map(({ name }) => name)).toContain('builtin:calculator');
  });

  test('[CLI-1] finds the best tool for a query', async () => {
    const { stdout } = await run(['tools', 'arithmetic expression', '--as', 'alice']);
    expect(stdout).toMatch(/^builtin:calculator /);
  });

  test('[CLI-1] lists the tools of a group, and says so when there are none', async () => {
    const all = await run(['tools', '--as', 'alice']);
    expect((await run(['tools', '--group', 'builtin-tools', '--as', 'alice'])).stdout).toBe(all.stdout);
    const { code, stdout, stderr } = await run(['tools', '--group', 'nothing', '--as', 'alice']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('None of the tools you may use matches');
  });

  test('[CLI-1] reads to the last page', async () => {
    const tool = (name: string) => ({ name, description: `Does ${name}`, from_the_future: true });
    const asked: string[] = [];
    await using paged = await startHttpServer((request, response) => {
      asked.push(request.url ?? '');
      const second = request.url?.includes('cursor=two') ?? false;
      const page = second ? { tools: [tool('c')], next_cursor: null } : { tools: [tool('a'), tool('b')], next_cursor: 'two' };
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ ...page, total: 3 }));
    });
    const { code, stdout } = await run(['tools', '--url', paged.origin, '--token', 'x', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ tools: [tool('a'), tool('b'), tool('c')], total: 3, next_cursor: null });
    expect(asked).toEqual(['/api/bff/tools', '/api/bff/tools?cursor=two']);
  });

  test('[CLI-1] ends without an error when its reader leaves early', async () => {
    const pipeline = `"$0" "$1" tools --as alice | head -n 1`;
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', pipeline, process.execPath, launcher], {
      env: { PATH: process.env.PATH, TOOLCRIB_URL: server.url },
    });
    expect({ lines: stdout.split('\n').length, stderr }).toEqual({ lines: 2, stderr: '' });
  });
});

describe('policy explain', () => {
  test('[POL-3] says who may use a tool and which matcher decided it', async () => {
    const { code, stdout, stderr } = await run(['policy', 'explain', '--as', 'bob', '--tool', 'builtin:calculator']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('builtin:calculator is allowed: granted by users-use-builtin-tools');
    expect(stdout).toMatch(/holds {2}realm_access\.roles contains "toolcrib-user" {2}the claim is/);
  });

  test('[POL-3] says for claims what is missing', async () => {
    const { code, stdout } = await run(['policy', 'explain', '--claims', '{"sub": "u-1"}']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Subject u-1 may use no tools\.$/m);
    expect(stdout).toMatch(/fails .* the claim is missing/);
  });

  test('[POL-3] lists for a token what its user may use, and takes alice by default', async () => {
    const token = (await run(['token', 'alice'])).stdout.trim();
    const named = await run(['policy', 'explain', '--token', token]);
    expect(named).toMatchObject({ code: 0, stdout: expect.stringContaining('\n  builtin:calculator\n') });
    const usual = await run(['policy', 'explain']);
    expect(usual).toMatchObject({ code: 0, stdout: named.stdout, stderr: expect.stringContaining('for alice') });
  });

  test('[POL-3] reads a token from standard input or a file, so that no shell history keeps it', async () => {
    const token = (await run(['token', 'bob'])).stdout;
    const piped = await run(['policy', 'explain', '--token', '-'], { input: token });
    await using folder = await temporaryDirectory();
    await writeFile(join(folder.path, 'token'), token);
    const filed = await run(['policy', 'explain', '--token', `@${join(folder.path, 'token')}`]);
    expect(piped).toMatchObject({ code: 0, stdout: expect.stringContaining('\n  builtin:calculator\n') });
    expect(filed.stdout).toBe(piped.stdout);
  });

  test('[POL-3] explains an expired token by its claims and says that it has expired', async () => {
    const claims = { sub: 'u-1', exp: 1_700_000_000, realm_access: { roles: ['toolcrib-user'] } };
    const token = ['{"alg":"ES256"}', JSON.stringify(claims), 'x'].map((part) => Buffer.from(part).toString('base64url')).join('.');
    const { code, stdout, stderr } = await run(['policy', 'explain', '--token', token, '--tool', 'builtin:uuid']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('builtin:uuid is allowed') });
    expect(stderr).toContain('This token expired at 2023-11-14 22:13 UTC, and the server refuses it');
  });

  test('[POL-3] lists who may use a tool', async () => {
    const { code, stdout } = await run(['policy', 'explain', '--who', '--tool', 'builtin:uuid']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^builtin:uuid is in builtin-tools\.\nIt may be used by:\n/),
    });
    expect(stdout).toContain(
      '  Users may use the built-in tools (users-use-builtin-tools)\n    whose  realm_access.roles contains "toolcrib-user"',
    );
    const { policies } = JSON.parse((await run(['policy', 'explain', '--who', '--tool', 'builtin:uuid', '--json'])).stdout);
    expect(policies.map(({ id }: { id: string }) => id)).toEqual(['users-use-builtin-tools']);
    expect(await run(['policy', 'explain', '--who', '--tool', 'no:such'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no such tool'),
    });
  });

  test('[POL-3] prints the answer of the API with --json', async () => {
    const { stdout } = await run(['policy', 'explain', '--as', 'admin', '--json']);
    expect(explanationSchema.parse(JSON.parse(stdout))).toMatchObject({ administrator: true, decision: null });
  });

  test('[POL-3] is refused for anyone but administrators, with a message that says so', async () => {
    const token = (await run(['token', 'bob'])).stdout.trim();
    const { code, stderr } = await run(['policy', 'explain'], { env: { TOOLCRIB_TOKEN: token } });
    expect(code).toBe(1);
    expect(stderr).toContain('for administrators');
  });
});

describe('a server with issuers of its own', () => {
  test('[ID-1] has no development tokens, and the commands say where to get one', async () => {
    await using real = await startServerWithIssuer();
    for (const args of [['token', 'alice'], ['tools'], ['call', 'builtin:uuid'], ['policy', 'explain']]) {
      const { code, stdout, stderr } = await run([...args, '--url', real.server.url]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain('has no development issuer: a token comes from the identity provider');
    }
  });

  test('[CLI-1] accepts the tokens of its users, and tells a user without tools what to do', async () => {
    await using real = await startServerWithIssuer();
    const token = await real.issuer.sign(userClaims);
    expect(await run(['tools', '--url', real.server.url, '--token', token])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^builtin:/),
    });
    const stranger = await real.issuer.sign({ sub: 'stranger' });
    const { code, stdout, stderr } = await run(['tools', '--url', real.server.url, '--token', stranger]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('perhaps no policy grants any. `toolcrib policy explain --token <jwt>` says why');
  });

  test('[CLI-1] refuses an invalid token with the reason', async () => {
    const { code, stderr } = await run(['tools', '--token', 'nonsense']);
    expect(code).toBe(1);
    expect(stderr).toContain('This is not a token');
  });
});

test.each([
  ['text', 200, 'hello'],
  ['other JSON', 200, '{"a": 1}'],
  ['an error page', 502, '<html>'],
  ['an error of its own', 500, '{"error": "x"}'],
])('[CLI-1] an address that answers with %s is not mistaken for a Toolcrib', async (_kind, status, body) => {
  await using other = await startHttpServer((_request, response) => response.writeHead(status).end(body));
  const { code, stdout, stderr } = await run(['tools', '--url', other.origin, '--token', 'x']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/Toolcrib/);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});
