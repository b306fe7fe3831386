import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixture } from '../fixtures/open-server.ts';
import { temporaryDirectory, type TemporaryDirectory } from '../running-server.ts';
import { atTerminal, hasTerminal } from './at-terminal.ts';
import { startSourceCommands } from './source-commands.ts';

const users = '{path: realm_access.roles, operator: contains, value: toolcrib-user}';
const example = join(import.meta.dirname, '..', '..', '..', '..', 'examples', 'toolcrib.yaml');

describe('[SRC-6] [CLI-1] plan and apply', () => {
  let commands: Awaited<ReturnType<typeof startSourceCommands>>;
  let folder: TemporaryDirectory;
  beforeAll(async () => {
    [commands, folder] = await Promise.all([startSourceCommands(), temporaryDirectory()]);
  });
  afterAll(async () => {
    await commands[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });
  const write = async (text: string, name = 'toolcrib.yaml') => {
    await writeFile(join(folder.path, name), text);
    return join(folder.path, name);
  };
  const run = (...args: string[]) => commands.run(args, { cwd: folder.path });

  test('print the difference and end with 2, or with 0 when there is none', async () => {
    await write(`groups: {clocks: {selectors: [{source: builtin, name: current_time}]}}\n`);
    const planned = await run('plan');
    expect([planned.code, planned.stdout]).toEqual([
      2,
      'create group clocks\n    selectors: [{"source":"builtin","name":"current_time"}]\n    name: clocks\n\n1 change: 1 to create.\n',
    ]);
    const applied = await run('apply', '--yes');
    expect([applied.code, applied.stdout]).toEqual([0, `${planned.stdout}\ndone  create group clocks\n`]);
    const again = await run('plan');
    expect([again.code, again.stdout]).toEqual([0, 'The server already matches the file.\n']);
    expect(JSON.parse((await run('plan', '--json')).stdout)).toMatchObject({ changes: [], tests: [] });
  });

  test('end with 1 and apply nothing when a test fails', async () => {
    await write(`groups: {clocks: {}}\ntests: [{name: Everybody reads clocks, can: ['builtin:current_time']}]\n`);
    const planned = await run('plan');
    expect([planned.code, planned.stdout]).toEqual([1, expect.stringContaining('can builtin:current_time: no policy grants it')]);
    const applied = await run('apply', '--yes');
    expect([applied.code, applied.stderr]).toEqual([1, expect.stringContaining('Nothing was changed, because a test fails')]);
    expect((await run('policy', 'test')).code).toBe(1);
    expect((await run('apply', '--yes', '--json')).code).toBe(1);
  });

  test('run unknown tests again once the sources run, with --wait', async () => {
    const source = `sources: {files: {mcp_command: ${JSON.stringify(fixture())}, mcp_lifecycle_mode: singleton}}\n`;
    const rules = `groups: {echo: {include: ['files:echo']}}\npolicies: {users: {matchers: [${users}], groups: [echo]}}\n`;
    const path = await write(
      `${source}${rules}tests: [{name: Users echo, claims: {realm_access: {roles: [toolcrib-user]}}, can: ['files:echo']}]\n`,
      'files.yaml',
    );
    expect((await run('policy', 'test', path)).stdout).toBe(
      'Tests: 0 passed, 1 unknown until applied.\n  unknown  Users echo\n    the tools of files are not known yet\n',
    );
    const applied = await run('apply', path, '--yes', '--wait');
    expect([applied.code, applied.stdout]).toEqual([0, expect.stringMatching(/Tests: 1 passed\.\n$/)]);
  });

  test('report tests as unknown when a source never lists its tools, which fails with --wait', async () => {
    const path = await write(
      `sources: {broken: {mcp_command: ${JSON.stringify(fixture('crash-handshake'))}}}\ntests: [{name: Somebody, can: ['broken:echo']}]\n`,
      'broken.yaml',
    );
    const applied = await run('apply', path, '--yes', '--wait');
    expect([applied.code, applied.stdout]).toEqual([1, expect.stringContaining('the tools of broken are not known yet')]);
  });

  test('give the place in the file for every mistake, found here or by the server', async () => {
    await write('groups:\n  a:\n    nam: x\n');
    expect((await run('plan')).stderr).toBe('toolcrib: toolcrib.yaml:3:5: groups.a.nam: there is no such field\n');
    await write('groups:\n  a:\n    include:\n      - builtin:uuid\n      - nobody:knows\n');
    const refused = await run('plan');
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('toolcrib: toolcrib.yaml:5:9: groups.a: include.1 must be'),
    ]);
    expect((await run('plan', 'nowhere.yaml')).stderr).toContain('nowhere.yaml does not exist');
  });

  test('do not take silence for a yes', async () => {
    await write('groups: {more: {}}\n');
    const { code, stderr } = await run('apply');
    expect([code, stderr]).toEqual([2, expect.stringContaining('pass --yes to apply without asking')]);
  });

  test.skipIf(!hasTerminal)('ask at a terminal and do nothing without a yes', async () => {
    const path = await write('groups: {more: {}}\n');
    const question = 'Apply this?';
    const refused = await atTerminal(['apply', path], commands.server.url, { question, answer: 'n\n' });
    expect(refused).toContain('Nothing was changed.');
    const agreed = await atTerminal(['apply', path], commands.server.url, { question, answer: 'y\n' });
    expect(agreed).toMatch(/done.*create group more/);
  });

  test('work on the example of the project, and its tests hold', async () => {
    // Without what would be fetched from a registry.
    const text = (await readFile(example, 'utf8')).replace('pinning: quarantine', 'enabled: false');
    const path = await write(text, 'example.yaml');
    expect(await run('apply', path, '--yes', '--wait')).toMatchObject({ code: 0, stdout: expect.stringContaining('Tests: 3 passed.') });
    expect((await run('plan', path)).code).toBe(0);
  });

  test('have a schema for editors, which can be printed', async () => {
    expect(JSON.parse((await run('schema')).stdout)).toMatchObject({ title: 'toolcrib.yaml', properties: { server: {}, sources: {} } });
  });
});
