import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixtureServer } from '../fixtures/mcp/start-fixture.ts';
import { temporaryDirectory } from '../running-server.ts';
import { startSourceCommands } from './source-commands.ts';

let commands: Awaited<ReturnType<typeof startSourceCommands>>;
beforeAll(async () => {
  commands = await startSourceCommands();
});
afterAll(() => commands[Symbol.asyncDispose]());

const fixture = (...mode: string[]) => ({ command: process.execPath, args: [fixtureServer, ...mode] });
const namespaces = async () =>
  (await commands.json(['sources'])).sources.map(({ namespace }: { namespace: string }) => namespace) as string[];

describe('import', () => {
  test('[CLI-1] [SRC-4] --dry-run shows what would be registered, without secrets, and registers nothing', async () => {
    const mcpServers = {
      files: { ...fixture('plain', '--api-key', 'sk-0123456789abcdef'), env: { API_TOKEN: 's3cret-value' } },
      far: { url: 'https://mcp.example.org/mcp' },
      shell: { command: 'bash', args: ['-c', 'true'] },
      empty: {},
    };
    const { code, stdout } = await commands.run(['import', '-', '--dry-run'], { input: JSON.stringify({ mcpServers }) });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^mcpServers\.files +files +\S+node \S+server\.js plain --api-key \$\{\w*API_KEY\}$/m);
    expect(stdout).toMatch(/^mcpServers\.far +far +https:\/\/mcp\.example\.org\/mcp$/m);
    expect(stdout).toMatch(/^mcpServers\.shell +- +cannot be registered: bash is refused/m);
    expect(stdout).toMatch(/^mcpServers\.empty +- +cannot be registered: It has neither a command nor an address$/m);
    expect(stdout).not.toMatch(/s3cret|sk-0123/);
    expect(await namespaces()).toEqual(['builtin']);
  });

  test('[CLI-1] [SRC-4] registers every server of a file with comments, and waits until they run', async () => {
    await using folder = await temporaryDirectory();
    const file = join(folder.path, 'mcp.json');
    await writeFile(file, `// mine\n${JSON.stringify({ servers: { one: fixture('plain'), two: fixture('pages') } })}`);
    const { code, stdout } = await commands.run(['import', file]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^one +running +\d+ tools$/m);
    expect(stdout).toMatch(/^two +running +\d+ tools$/m);
    expect(await commands.json(['sources', 'show', 'one'])).toMatchObject({ definition: { lifecycle_mode: 'singleton' } });
  });

  test('[CLI-1] [LIFE-8] a bad entry, one that is there already and one that fails do not stop the others', async () => {
    const mcpServers = {
      taken: fixture('plain'),
      bad: { command: 'bash', args: ['-c', 'x'] },
      dies: fixture('crash-handshake'),
      good: fixture('plain'),
    };
    await commands.add('taken', ['plain'], ['--no-wait']);
    const { code, stdout, stderr } = await commands.run(['import', '-'], { input: JSON.stringify({ mcpServers }) });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^mcpServers\.taken +refused +.*already there/m);
    expect(stdout).toMatch(/^mcpServers\.bad +refused +bash is refused/m);
    expect(stdout).toMatch(/^dies +error +The server's process ended/m);
    expect(stdout).toMatch(/^good +running +\d+ tools$/m);
    expect(stderr).toContain('Starting 2 sources…');
  });

  test('[CLI-1] --json prints what became of each', async () => {
    const input = JSON.stringify({ mcpServers: { late: fixture('hang-handshake') } });
    const { code, stdout } = await commands.run(['import', '-', '--json', '--no-wait'], { input });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      entries: [{ entry: 'mcpServers.late', source: { status: { state: 'starting' } }, error: null }],
    });
  });

  test('[CLI-1] Ctrl-C stops watching, and what is registered stays', async () => {
    const input = JSON.stringify({ mcpServers: { hanging: fixture('hang-handshake') } });
    await using program = commands.start(['import', '-'], { input });
    await program.printed('Starting hanging…', 'stderr');
    program.child.kill('SIGINT');
    expect(await program.ended).toMatchObject({ code: 130, stdout: expect.stringMatching(/^hanging +starting$/m) });
    expect(await namespaces()).toContain('hanging');
  });

  test.each([
    ['no file', ['/no/such/file.json'], '', 2, 'There is no file /no/such/file.json'],
    ['no JSON', ['-'], '{ // a comment\n  "mcpServers" {}\n}', 1, 'The file is not valid JSON: line 2, column 16: a colon is expected'],
    ['no servers', ['-'], '{}', 1, 'There is no MCP server in the file'],
  ])('[CLI-1] %s is refused with the reason', async (_case, args, input, code, message) => {
    expect(await commands.run(['import', ...args], { input })).toMatchObject({
      code,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });
});
