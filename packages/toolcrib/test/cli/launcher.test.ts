import { chmod, chown, copyFile, lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { version } from '../../src/version.ts';
import { temporaryDirectory } from '../running-server.ts';
import { findOldNode, launcher, runToolcrib, startToolcrib } from './run-toolcrib.ts';

const oldNode = findOldNode();

/** The launcher on its own in a package, so that no bundled Node is found from there. */
async function packageWith(files: Record<string, string>) {
  const folder = await temporaryDirectory();
  await mkdir(join(folder.path, 'bin'));
  const copy = join(folder.path, 'bin', 'toolcrib.cjs');
  await copyFile(launcher, copy);
  for (const [name, text] of Object.entries({ 'package.json': '{"type": "module"}', ...files })) {
    await mkdir(join(folder.path, name, '..'), { recursive: true });
    await writeFile(join(folder.path, name), text);
  }
  return { launcher: copy, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

const mainThatExits = (code: number) => `export const main = async (args) => (console.log(args.join()), ${code});`;

describe('the launcher', () => {
  test('[CLI-1] is written in syntax that every Node can read', async () => {
    const source = await readFile(launcher, 'utf8');
    expect(source).not.toMatch(/=>|\b(const|let|class|async|await)\b|`|\?\.|\?\?|\.\.\./);
    expect(source, 'a comma after the last argument').not.toMatch(/,\s*\)/);
  });

  test('[CLI-1] of an installed package runs the built code, and passes arguments and exit code on', async () => {
    await using installed = await packageWith({ 'dist/main.js': mainThatExits(7) });
    const { code, stdout } = await runToolcrib(['a', 'b c'], installed);
    expect({ code, stdout }).toEqual({ code: 7, stdout: 'a,b c\n' });
  });

  test('[CLI-1] of a clone runs the source, even if there is a build', async () => {
    await using clone = await packageWith({
      'dist/main.js': mainThatExits(7),
      'src/main.ts': mainThatExits(3).replace('args', 'args: string[]'),
    });
    expect((await runToolcrib([], clone)).code).toBe(3);
  });
});

describe('compiled code', () => {
  /** The files that the launcher leaves in the cache of this home, and in the shared folder of the machine. */
  async function run(home: string, env: Record<string, string> = {}) {
    await mkdir(join(home, 'tmp'), { recursive: true });
    expect((await runToolcrib(['--version'], { env: { HOME: home, TMPDIR: join(home, 'tmp'), ...env } })).stdout).toBe(`${version}\n`);
    expect(await readdir(join(home, 'tmp')), 'nothing in the folder that everybody shares').toEqual([]);
    return readdir(join(home, '.cache', 'toolcrib', 'compiled'));
  }

  test('[SEC-3] is cached in a folder that is ours alone', async () => {
    await using home = await temporaryDirectory();
    expect(await run(home.path)).not.toEqual([]);
    expect((await lstat(join(home.path, '.cache', 'toolcrib', 'compiled'))).mode & 0o777).toBe(0o700);
  });

  test('[SEC-3] is not cached where others may write', async () => {
    for (const open of ['.cache/toolcrib/compiled', '.cache/toolcrib', '.cache']) {
      await using home = await temporaryDirectory();
      await mkdir(join(home.path, '.cache', 'toolcrib', 'compiled'), { recursive: true, mode: 0o700 });
      await chmod(join(home.path, open), 0o777);
      expect([open, await run(home.path)]).toEqual([open, []]);
    }
  });

  test('[SEC-3] is not cached behind a link', async () => {
    await using home = await temporaryDirectory();
    await mkdir(join(home.path, 'elsewhere'), { mode: 0o700 });
    await mkdir(join(home.path, '.cache', 'toolcrib'), { recursive: true, mode: 0o700 });
    await symlink(join(home.path, 'elsewhere'), join(home.path, '.cache', 'toolcrib', 'compiled'));
    expect(await run(home.path)).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)('[SEC-3] is neither read from nor written to a folder that another user has planted', async () => {
    for (const planted of ['.cache/toolcrib/compiled', '.cache/toolcrib', '.cache']) {
      await using home = await temporaryDirectory();
      await mkdir(join(home.path, '.cache', 'toolcrib', 'compiled'), { recursive: true, mode: 0o700 });
      await chown(join(home.path, planted), 65_534, 65_534);
      expect([planted, await run(home.path)]).toEqual([planted, []]);
    }
  });

  test('[CLI-1] is not cached where there is no home folder', async () => {
    await using folder = await temporaryDirectory();
    await writeFile(join(folder.path, 'file'), '');
    const env = { HOME: join(folder.path, 'file'), TMPDIR: folder.path };
    expect(await runToolcrib(['--version'], { env })).toMatchObject({ code: 0, stderr: '' });
  });
});

const skipped = oldNode === undefined && process.env.TOOLCRIB_REQUIRE_PARTS !== '1';
test.skipIf(skipped)(`a Node older than 24 is ${oldNode === undefined ? 'missing: put one on PATH' : 'here'}`, () => {
  expect(oldNode).toBeDefined();
});

describe.skipIf(oldNode === undefined)('the launcher under an old Node', () => {
  const node = oldNode ?? '';

  test('[CLI-1] runs the bundled Node, and passes its output and exit code on', async () => {
    expect(await runToolcrib(['--version'], { node })).toMatchObject({ code: 0, signal: null, stdout: `${version}\n`, stderr: '' });
    expect(await runToolcrib(['nonsense'], { node })).toMatchObject({ code: 2 });
  });

  test('[CLI-1] passes standard input on', async () => {
    // Port 9 is reserved for discarding: nothing answers, but the arguments are read and refused before that matters.
    const { code, stderr } = await runToolcrib(['call', 'a:b', '-', '--url', 'http://127.0.0.1:9'], { node, input: 'no JSON' });
    expect(code).toBe(2);
    expect(stderr).toContain('must be a JSON object');
  });

  test('[CLI-1] forwards the signal that ends the server, and ends as the server does', async () => {
    await using data = await temporaryDirectory();
    await using program = startToolcrib(['serve', '--port', '0', '--data', data.path], { node });
    await program.printed('Ctrl-C');
    program.child.kill('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 0, signal: null, stdout: expect.stringContaining('Stopping…') });
  });

  test('[CLI-1] dies of the signal its child died of', async () => {
    await using data = await temporaryDirectory();
    await using program = startToolcrib(['serve', '--port', '0', '--data', data.path], { node });
    await program.printed('Ctrl-C');
    // The server has no handler for it, so this one is deadly.
    program.child.kill('SIGHUP');
    expect(await program.ended).toMatchObject({ code: null, signal: 'SIGHUP' });
  });

  test('[CLI-1] says which Node is needed and how to get it when none is bundled', async () => {
    await using lonely = await packageWith({});
    const { code, stdout, stderr } = await runToolcrib(['call', 'a:b', '{"c": 1}'], { node, launcher: lonely.launcher });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^toolcrib: Node 24 or newer is needed, and this is v\d+/);
    expect(stderr).toContain(`npx -y node@24 ${lonely.launcher} call a:b '{"c": 1}'`);
    expect(stderr).toContain('nvm install 24');
    expect(stderr).toContain('npm ci');
  });
});
