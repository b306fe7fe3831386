import { chmod, lstat, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { insertJson } from '../../src/cli/clients/insert-json.ts';
import { insertToml } from '../../src/cli/clients/insert-toml.ts';
import { mcpClients } from '../../src/cli/clients/mcp-clients.ts';
import { parseJsonc } from '../../src/model/parse-jsonc.ts';
import { temporaryDirectory } from '../running-server.ts';
import { atTerminal, hasTerminal } from './at-terminal.ts';
import { runToolcrib } from './run-toolcrib.ts';

const address = 'https://crib.example.org/mcp';

async function atHome(args: string[], home: string, env: Record<string, string> = {}) {
  return runToolcrib(['connect-client', ...args], { env: { HOME: home, ...env }, cwd: home });
}

/** Without the compiled code that the launcher keeps. */
async function seenIn(home: string): Promise<string[]> {
  return (await readdir(home)).filter((name) => name !== '.cache');
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

const files: Record<string, { path: string; content: object; withToken?: object }> = {
  'claude-code': {
    path: '.claude.json',
    content: { mcpServers: { toolcrib: { type: 'http', url: address } } },
    // oxlint-disable-next-line no-template-curly-in-string -- the client fills it in
    withToken: { mcpServers: { toolcrib: { type: 'http', url: address, headers: { Authorization: 'Bearer ${CRIB}' } } } },
  },
  cursor: {
    path: '.cursor/mcp.json',
    content: { mcpServers: { toolcrib: { url: address } } },
    // oxlint-disable-next-line no-template-curly-in-string -- the client fills it in
    withToken: { mcpServers: { toolcrib: { url: address, headers: { Authorization: 'Bearer ${env:CRIB}' } } } },
  },
  vscode: { path: '.config/Code/User/mcp.json', content: { servers: { toolcrib: { type: 'http', url: address } } } },
  codex: {
    path: '.codex/config.toml',
    content: { mcp_servers: { toolcrib: { url: address } } },
    withToken: { mcp_servers: { toolcrib: { url: address, bearer_token_env_var: 'CRIB' } } },
  },
  gemini: {
    path: '.gemini/settings.json',
    content: { mcpServers: { toolcrib: { httpUrl: address } } },
    // oxlint-disable-next-line no-template-curly-in-string -- the client fills it in
    withToken: { mcpServers: { toolcrib: { httpUrl: address, headers: { Authorization: 'Bearer ${CRIB}' } } } },
  },
  windsurf: {
    path: '.codeium/windsurf/mcp_config.json',
    content: { mcpServers: { toolcrib: { serverUrl: address } } },
    // oxlint-disable-next-line no-template-curly-in-string -- the client fills it in
    withToken: { mcpServers: { toolcrib: { serverUrl: address, headers: { Authorization: 'Bearer ${env:CRIB}' } } } },
  },
};
const read = (path: string, text: string): unknown => (path.endsWith('.toml') ? JSON.parse(JSON.stringify(parse(text))) : JSON.parse(text));

test('[DOOR-1] connect-client lists the clients it knows', async () => {
  const { code, stdout } = await runToolcrib(['connect-client', '--json']);
  const { clients } = JSON.parse(stdout) as { clients: { name: string; writes: boolean }[] };
  expect(code).toBe(0);
  expect(clients.map(({ name }) => name)).toEqual(Object.keys(mcpClients));
  expect(clients.filter(({ writes }) => writes).map(({ name }) => name)).toEqual(Object.keys(files));
  const plain = await runToolcrib(['connect-client']);
  for (const { name } of clients) expect(plain.stdout).toMatch(new RegExp(`^${name} `, 'm'));
});

describe.skipIf(process.platform !== 'linux').each(Object.entries(files))(
  '[DOOR-1] connect-client %s',
  (client, { path, content, withToken }) => {
    test('prints the lines for its file, and with --write puts it there once', async () => {
      await using home = await temporaryDirectory();
      const shown = await atHome([client, '--address', address], home.path);
      expect([shown.code, read(path, shown.stdout)]).toEqual([0, content]);
      expect(shown.stderr).toContain(join(home.path, path));
      expect(await seenIn(home.path)).toEqual([]);

      const written = await atHome([client, '--address', address, '--write', '--yes'], home.path);
      expect(written.code).toBe(0);
      const text = await readFile(join(home.path, path), 'utf8');
      expect(read(path, text)).toEqual(content);
      expect((await stat(join(home.path, path))).mode & 0o777).toBe(0o600);

      const again = await atHome([client, '--address', address, '--write', '--yes'], home.path);
      expect([again.code, again.stderr.includes('has it already')]).toEqual([0, true]);
      const other = await atHome([client, '--address', `${address}/kitchen`, '--write', '--yes'], home.path);
      expect([other.code, other.stderr.includes('another server with the name toolcrib')]).toEqual([1, true]);
      expect(await readFile(join(home.path, path), 'utf8')).toBe(text);
    });

    test.skipIf(withToken === undefined)('refers to the variable with the token, and never to a token', async () => {
      await using home = await temporaryDirectory();
      const args = [client, '--address', address, '--token-env', 'CRIB', '--write', '--yes'];
      const { code, stdout, stderr } = await atHome(args, home.path, { CRIB: 'secret-token' });
      const text = await readFile(join(home.path, path), 'utf8');
      expect([code, read(path, text)]).toEqual([0, withToken]);
      expect(`${stdout}${stderr}${text}`).not.toContain('secret-token');
    });
  },
);

test('[DOOR-1] clients without a file are told in steps or in code', async () => {
  for (const client of Object.keys(mcpClients).filter((name) => files[name] === undefined)) {
    const { code, stdout } = await runToolcrib(['connect-client', client, '--address', address]);
    expect([client, code, stdout.includes(address)]).toEqual([client, 0, true]);
    const { code: refused, stderr } = await runToolcrib(['connect-client', client, '--write']);
    expect([client, refused, stderr.includes('no file')]).toEqual([client, 2, true]);
  }
});

test.each([
  [['--group', 'kitchen'], 'http://127.0.0.1:7300/mcp/kitchen', 'toolcrib-kitchen'],
  [['--mode', 'search'], 'http://127.0.0.1:7300/mcp?mode=search', 'toolcrib'],
  [
    ['--url', 'https://crib.example.org/x/', '--group', 'a', '--mode', 'search'],
    'https://crib.example.org/x/mcp/a?mode=search',
    'toolcrib-a',
  ],
  [['--address', address, '--name', 'mine'], address, 'mine'],
])('[DOOR-1] connect-client cursor %j is for %s', async (args, url, name) => {
  const { stdout } = await runToolcrib(['connect-client', 'cursor', ...args]);
  expect(JSON.parse(stdout)).toEqual({ mcpServers: { [name]: { url } } });
});

test.each([
  [['nobody'], /There is no client nobody/],
  [['__proto__'], /There is no client/],
  [['cursor', '--address', 'x'], /--address must be/],
  [['cursor', '--address', "https://x.example/mcp'; rm -rf"], /--address must be/],
  [['cursor', '--address', 'https://me:secret@x.example/mcp'], /--address must be/],
  [['cursor', '--address', address, '--group', 'x'], /leave --group/],
  [['cursor', '--group', '../x'], /--group must be/],
  [['cursor', '--mode', 'fast'], /--mode must be/],
  [['cursor', '--name', 'a b'], /--name must/],
  [['cursor', '--token-env', 'eyJhbGciOi.x.y'], /never a token/],
  [['vscode', '--token-env', 'CRIB'], /logs in by itself/],
])('[DOOR-1] connect-client %j is refused with a reason', async (args, reason) => {
  const { code, stderr } = await runToolcrib(['connect-client', ...args]);
  expect([code, reason.test(stderr)]).toEqual([2, true]);
});

describe.skipIf(process.platform !== 'linux')('[DOOR-1] connect-client --write', () => {
  const cursor = '.cursor/mcp.json';
  const args = ['cursor', '--address', address, '--write'];

  test('keeps comments, order, mode and a link, and keeps the old file', async () => {
    await using home = await temporaryDirectory();
    const real = join(home.path, 'dotfiles', 'mcp.json');
    const before = '// mine\n{\n\t"other": [1, 2.50],\n\t"mcpServers": {\n\t\t"a": { "command": "x" }, // keep\n\t},\n}\n';
    await put(real, before);
    await chmod(real, 0o640);
    await mkdir(join(home.path, '.cursor'));
    await symlink(real, join(home.path, cursor));

    const { code, stdout } = await atHome([...args, '--yes'], home.path);
    expect(code).toBe(0);
    expect(stdout).toContain('+ \t\t"toolcrib": {');
    const after = await readFile(real, 'utf8');
    expect(after).toBe(before.replace('"mcpServers": {', `"mcpServers": {\n\t\t"toolcrib": {\n\t\t\t"url": "${address}"\n\t\t},`));
    expect(await readlink(join(home.path, cursor))).toBe(real);
    expect((await lstat(real)).mode & 0o777).toBe(0o640);
    expect(await readFile(`${real}.before-toolcrib`, 'utf8')).toBe(before);
    expect((await readdir(dirname(real))).sort()).toEqual(['mcp.json', 'mcp.json.before-toolcrib']);
  });

  test.each([
    ['is cut off', '{ "mcpServers": {'],
    ['is a list', '[]'],
    ['has a list of servers', '{ "mcpServers": [] }'],
    ['has its servers twice', '{ "mcpServers": {}, "mcpServers": { "a": {} } }'],
    ['reaches for prototypes', '{ "__proto__": {} }'],
  ])('leaves a file alone that %s', async (_what, text) => {
    await using home = await temporaryDirectory();
    await put(join(home.path, cursor), text);
    const { code, stderr } = await atHome([...args, '--yes'], home.path);
    expect([code, stderr.includes('left as it is')]).toEqual([1, true]);
    expect(await readFile(join(home.path, cursor), 'utf8')).toBe(text);
    expect(await readdir(join(home.path, '.cursor'))).toEqual(['mcp.json']);
  });

  test('leaves a file alone that is not text, and a folder', async () => {
    await using home = await temporaryDirectory();
    const path = join(home.path, cursor);
    await put(path, '');
    await writeFile(path, Buffer.from([0x7b, 0xff, 0x7d]));
    expect((await atHome([...args, '--yes'], home.path)).stderr).toContain('not in UTF-8');
    await using other = await temporaryDirectory();
    await mkdir(join(other.path, cursor), { recursive: true });
    expect((await atHome([...args, '--yes'], other.path)).stderr).toContain('is no file');
  });

  test('asks, and refuses where nobody can be asked', async () => {
    await using home = await temporaryDirectory();
    const { code, stderr } = await atHome(args, home.path);
    expect([code, stderr.includes('--yes')]).toEqual([2, true]);
    expect(await seenIn(home.path)).toEqual([]);
  });

  test.skipIf(!hasTerminal).each([
    ['y\n', true],
    ['n\n', false],
  ])('does what is answered: %j', async (answer, isWritten) => {
    await using home = await temporaryDirectory();
    // The terminal of the tests gives no home, so the place is in the variable of this client.
    const shown = await atTerminal(['connect-client', 'codex', '--address', address, '--write'], '', {
      question: 'Write it?',
      answer,
      env: { CODEX_HOME: home.path },
    });
    expect(shown).toContain('[mcp_servers.toolcrib]');
    expect(await readdir(home.path)).toEqual(isWritten ? ['config.toml'] : []);
  });
});

describe('[DOOR-1] an entry is added to', () => {
  const insertion = { table: 'mcpServers', name: 'crib', entry: { url: address } };

  test.each([
    ['an empty file', ''],
    ['an empty object', '{}'],
    ['an object on one line', '{"a":{"mcpServers":{}},"b":"{"}'],
    ['an object with a table on one line', '{"mcpServers":{"a":{"x":"}"}},"b":1}'],
    ['an object with a comment before the table', '{ /* { */ "mcpServers": { // none yet\n } }'],
    ['a file with a byte order mark', '\uFEFF{\r\n    "mcpServers": {\r\n    }\r\n}\r\n'],
    ['a table with the name in a string', '{ "x": "\\"mcpServers\\": {", "mcpServers": { "a": 1 } }'],
  ])('%s', (_what, text) => {
    const after = insertJson(text, insertion);
    const before = (text.trim() === '' ? {} : parseJsonc(text)) as { mcpServers?: object };
    expect(parseJsonc(after)).toEqual({ ...before, mcpServers: { ...before.mcpServers, crib: { url: address } } });
    expect(after.replaceAll('\r\n', '').includes('\n')).toBe(!text.includes('\r\n'));
    expect(() => insertJson(after, { ...insertion, name: 'second' })).not.toThrow();
  });

  test.each([
    ['an empty file', ''],
    ['a file without a line break at its end', 'model = "x" # mine'],
    [
      'a file with tables',
      '# mine\nmodel = "x"\n\n[mcp_servers.a]\ncommand = "x" # keep\n\n[profiles.b]\nmodel = "y"\nwhen = 2026-11-18\n',
    ],
  ])('TOML: %s', (_what, text) => {
    const after = insertToml(text, { ...insertion, table: 'mcp_servers' });
    expect(after.startsWith(text)).toBe(true);
    expect(parse(after)).toMatchObject({ mcp_servers: { crib: { url: address } } });
  });

  test.each([
    ['a table in braces', 'mcp_servers = { a = { command = "x" } }'],
    ['a file that is cut off', '[mcp_servers'],
    ['a value in place of the table', 'mcp_servers = 1'],
  ])('not TOML: %s', (_what, text) => {
    expect(() => insertToml(text, { ...insertion, table: 'mcp_servers' })).toThrow('left as it is');
  });
});
