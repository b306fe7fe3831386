import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDocumentService } from '../fixtures/document-service.ts';
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

describe('toolcrib import', () => {
  test('[CLI-1] [SRC-4] shows with --dry-run what would be registered, without secrets, and registers nothing', async () => {
    const mcpServers = {
      files: { ...fixture('plain', '--api-key', 'sk-0123456789abcdef'), env: { API_TOKEN: 's3cret-value' } },
      far: { url: 'https://mcp.example.org/mcp' },
      shell: { command: 'bash', args: ['-c', 'true'] },
      empty: {},
      off: { command: 'npx', args: ['some-server'], disabled: true, autoApprove: ['x'] },
    };
    const { code, stdout } = await commands.run(['import', '-', '--dry-run'], { input: JSON.stringify({ mcpServers }) });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^mcpServers\.files +files +\S+node \S+server\.js plain --api-key \$\{\w*API_KEY\}$/m);
    expect(stdout).toMatch(/^mcpServers\.far +far +https:\/\/mcp\.example\.org\/mcp$/m);
    expect(stdout).toMatch(/^mcpServers\.shell +- +cannot be registered: bash is refused/m);
    expect(stdout).toMatch(
      /^mcpServers\.empty +- +cannot be registered: The entry has neither a command nor an address. Give it one of them$/m,
    );
    expect(stdout).toMatch(/^mcpServers\.off +off +npx -y some-server \(disabled\)$/m);
    expect(stdout).toContain('off: autoApprove: not used');
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

  test('[CLI-1] [LIFE-8] continues after a bad entry, an existing one and one that fails', async () => {
    const mcpServers = {
      taken: fixture('plain'),
      bad: { command: 'bash', args: ['-c', 'x'] },
      dies: fixture('crash-handshake'),
      good: fixture('plain'),
    };
    await commands.add('taken', ['plain'], ['--no-wait']);
    const { code, stdout, stderr } = await commands.run(['import', '-'], { input: JSON.stringify({ mcpServers }) });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^mcpServers\.taken +refused +.*already exists/m);
    expect(stdout).toMatch(/^mcpServers\.bad +refused +bash is refused/m);
    expect(stdout).toMatch(/^dies +error +The server's process ended/m);
    expect(stdout).toMatch(/^good +running +\d+ tools$/m);
    expect(stderr).toContain('Starting 2 sources…');
  });

  test('[CLI-1] [UTCP-1] imports a manual from a file and by its address, and again with --update', async () => {
    await using service = await startDocumentService();
    await using folder = await temporaryDirectory();
    const file = join(folder.path, 'bookshop.json');
    const tool = (name: string) => ({ name, tool_call_template: { call_template_type: 'http', url: `${service.origin}/${name}` } });
    const write = (...names: string[]) => writeFile(file, JSON.stringify({ utcp_version: '1.0.1', tools: names.map(tool) }));
    await write('list');
    expect(await commands.run(['import', file])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^bookshop +running +1 tool$/m) });
    expect((await commands.run(['import', file])).stdout).toMatch(/^bookshop +running +1 tool, unchanged$/m);
    await write('list', 'add');
    expect(await commands.run(['import', file])).toMatchObject({ code: 1, stdout: expect.stringMatching(/refused +.*--update/s) });
    expect((await commands.run(['import', file, '--update'])).stdout).toMatch(/^bookshop +running +2 tools, updated$/m);
    service.describe({ utcp_version: '1.0.1', tools: [tool('far')] });
    expect(await commands.run(['import', service.url, '--name', 'far-away'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^far-away +running +1 tool$/m),
    });
    expect(await commands.json(['sources', 'show', 'far-away'])).toMatchObject({ definition: { document: { url: service.url } } });
    service.describe({ mcpServers: { listed: fixture('plain') } });
    expect((await commands.run(['import', service.url])).stdout).toMatch(/^listed +running/m);
    service.protect('Bearer x');
    expect(await commands.run(['import', service.url])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('call template with url and auth'),
    });
  });

  test('[CLI-1] prints the outcome of each entry with --json', async () => {
    const input = JSON.stringify({ mcpServers: { late: fixture('hang-handshake') } });
    const { code, stdout } = await commands.run(['import', '-', '--json', '--no-wait'], { input });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      entries: [{ entry: 'mcpServers.late', source: { status: { state: 'starting' } }, error: null }],
    });
  });

  test('[CLI-1] stops watching on Ctrl-C, and the registered sources stay', async () => {
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
    ['no servers', ['-'], '{}', 1, 'There is nothing to import'],
  ])('[CLI-1] refuses %s with the reason', async (_case, args, input, code, message) => {
    expect(await commands.run(['import', ...args], { input })).toMatchObject({
      code,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });
});
