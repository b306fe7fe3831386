import { pluginDirectory } from '../mcp/registration-fixture.ts';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiClient } from '../fixtures/api-client.ts';
import { startEverything } from '../fixtures/mcp/sessions.ts';
import { devToken, temporaryDirectory } from '../running-server.ts';
import { atTerminal, hasTerminal } from './at-terminal.ts';
import { addFixture, startSourceCommands } from './source-commands.ts';

let commands: Awaited<ReturnType<typeof startSourceCommands>>;
beforeAll(async () => {
  commands = await startSourceCommands();
});
afterAll(() => commands[Symbol.asyncDispose]());

describe('add', () => {
  test('[CLI-1] [MC-T3] shows the output of the server while it starts, and ends with the list of its tools', async () => {
    const { code, stdout, stderr } = await commands.add('plain', ['plain']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^plain:echo {2,}The tool echo of the fixture server\.$/m);
    expect(
      new Set(
        stdout
          .trimEnd()
          .split('\n')
          .map((line) => /^\S+ +/.exec(line)?.[0].length),
      ).size,
    ).toBe(1);
    expect(stderr).toMatch(/^Starting plain…\n {2}ready\nplain is running and has \d+ tools\.\n/);
    // Without the demo, development grants the built-in tools only.
    expect(stderr).toContain('No policy grants these tools, so nobody can use them yet.');
  });

  test('[CLI-1] [POL-1] says which policy to write when none grants the tools, and then suggests a call', async () => {
    const { stderr } = await commands.add('granted', ['plain']);
    const [, yaml = ''] = /use a claim of your own tokens there:\n\n([^]*)$/.exec(stderr) ?? [];
    await using folder = await temporaryDirectory();
    await writeFile(join(folder.path, 'toolcrib.yaml'), yaml);
    expect(await commands.run(['apply', '--yes'], { cwd: folder.path })).toMatchObject({ code: 0 });
    expect(await commands.run(['sources', 'remove', 'granted', '--yes'])).toMatchObject({ code: 0 });
    const again = await commands.add('granted', ['plain']);
    expect(again.stderr).toContain('`toolcrib policy explain --who --tool granted:');
    const [, call = ''] = /^ {2}toolcrib (call granted:.*)$/m.exec(again.stderr) ?? [];
    expect(await commands.run(call.split(' '))).toMatchObject({ code: 0 });
  });

  test('[CLI-1] [SRC-9] prints the final state of the source with --json', async () => {
    const { code, stdout } = await commands.run([...addFixture('as-json', ['plain'], ['--json', '--lifecycle', 'transient'])]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      namespace: 'as-json',
      status: { state: 'running', tools: expect.any(Number) },
      definition: { lifecycle_mode: 'transient' },
    });
  });

  test('[CLI-1] says with --no-wait that the start goes on', async () => {
    const { code, stdout, stderr } = await commands.add('later', ['hang-handshake'], ['--no-wait']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('later is registered and being started');
    expect(await commands.json(['sources', 'show', 'later'])).toMatchObject({ status: { state: 'starting' } });
  });

  test('[CLI-1] [ERR-5] ends with the last output, the code and the remedy when a server dies, and keeps the source', async () => {
    const { code, stdout, stderr } = await commands.add('dying', ['crash-handshake', '3', 'the cat ate it']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^Starting dying…\n {2}ready\n {2}the cat ate it\n/);
    expect(stderr).toMatch(/toolcrib: dying could not be started \(SERVICE_UNAVAILABLE\): .*ended with code 3/);
    // Its output is already shown above.
    expect(stderr.match(/the cat ate it/g)).toHaveLength(1);
    expect(stderr).toMatch(
      /toolcrib logs dying +shows what it wrote\n.*toolcrib sources restart dying +tries again\n.*toolcrib sources remove dying/,
    );
    expect(await commands.json(['sources', 'show', 'dying'])).toMatchObject({ enabled: true, status: { state: 'error' } });
  });

  test('[CLI-1] ends with 1 after a failed start, with --json too', async () => {
    const { code, stdout } = await commands.run(addFixture('dying-json', ['crash-handshake'], ['--json']));
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ status: { state: 'error', code: 'SERVICE_UNAVAILABLE' } });
  });

  test('[CLI-1] [ERR-4] ends at the startup timeout when a server says nothing', async () => {
    const { code, stderr } = await commands.add('mute', ['hang-handshake'], ['--startup-timeout', '300']);
    expect(code).toBe(1);
    expect(stderr).toContain('toolcrib: mute could not be started (NETWORK_ERROR): Handshake timed out after 0.3 s. ');
    expect(stderr).toContain('--startup-timeout');
  });

  test('[CLI-1] [ERR-1] reports a program that does not exist', async () => {
    const { code, stderr } = await commands.run(['add', '--', 'no-such-program-anywhere']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/could not be started \(NOT_FOUND\): The program no-such-program-anywhere was not found/);
  });

  test('[CLI-1] stops watching on Ctrl-C, and the source stays', async () => {
    await using program = commands.start(addFixture('watched', ['hang-handshake']));
    await program.printed('  ready', 'stderr');
    program.child.kill('SIGINT');
    expect(await program.ended).toMatchObject({ code: 130, stdout: '', stderr: expect.stringContaining('watched stays registered') });
    expect(await commands.json(['sources', 'show', 'watched'])).toMatchObject({ status: { state: 'starting' } });
  });

  test('[CLI-1] shows what npx is doing while it downloads', async () => {
    const npx = join(mkdtempSync(join(tmpdir(), 'slow-npx-')), 'npx');
    writeFileSync(npx, `#!${process.execPath}\nconsole.error('npm warn old'); setInterval(() => undefined, 1000);\n`, { mode: 0o755 });
    await using program = commands.start(['add', '--name', 'fetched', '--', npx, '-y', 'a-package']);
    await program.printed('npx is fetching or starting it', 'stderr');
    program.child.kill('SIGINT');
    const { code, stderr } = await program.ended;
    expect(code).toBe(130);
    expect(stderr).toMatch(
      /^Starting fetched…\n {2}npm warn old\n {2}\(npx is fetching or starting it: \d+ s, of at most 60 s\..*npm warn old\)$/m,
    );
    expect(await commands.run(['sources', 'remove', 'fetched', '--yes'])).toMatchObject({ code: 0 });
  });

  test('[NAME-2] refuses a name that is taken, and says what to do', async () => {
    expect(await commands.add('twice', ['plain'], ['--no-wait'])).toMatchObject({ code: 0 });
    const { code, stderr } = await commands.add('twice', ['plain']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/is already there.*give this one another --name or --namespace/);
  });

  test('[MC-T6] [MC-T7] [ENV-4] passes variables and secrets to the server, and never shows secrets', async () => {
    const args = addFixture(
      'secretive',
      ['plain'],
      ['--env', 'COLOUR=blue', '--secret', 'REGION', '--secret', 'API_TOKEN=t0p-of-the-hill'],
    );
    expect(await commands.run(args, { input: 'far-far-north\n' })).toMatchObject({ code: 0 });
    const shown = await commands.run(['sources', 'show', 'secretive']);
    expect(shown.stdout).toContain('COLOUR=blue');
    expect(shown.stdout).toContain('API_TOKEN=***');
    const admin = new ApiClient(commands.server.url, await devToken(commands.server.url, 'admin'));
    await admin.post('/api/groups', { id: 'secretive', name: 'Secretive', selectors: [{ source: 'secretive' }] });
    const matchers = [{ path: 'preferred_username', operator: 'equals', value: 'admin' }];
    await admin.post('/api/policies', { name: 'Admin', matchers, groups: ['secretive'] });
    const { stdout } = await commands.run(['call', 'secretive:environment', '--as', 'admin']);
    // A server's own secrets are redacted from its output too, so this is how we see that it has them.
    expect(JSON.parse(stdout)).toMatchObject({ COLOUR: 'blue', REGION: '***', API_TOKEN: '***' });
    const everything = shown.stdout + stdout + (await commands.run(['sources', 'show', 'secretive', '--json'])).stdout;
    expect(everything).not.toMatch(/far-far-north|t0p-of-the-hill/);
  });

  test('[CLI-1] [MCP-2] connects to an address', async () => {
    const port = await freePort();
    await using _server = await startEverything('streamableHttp', port);
    const { code, stdout } = await commands.run(['add', `http://127.0.0.1:${port}/mcp`, '--namespace', 'remote']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^remote:echo /m);
    expect(await commands.run(['sources', 'remove', 'remote', '--yes'])).toMatchObject({ code: 0 });
  });

  test('[CLI-1] [MCP-2] recognises an old server by its /sse, and its refusal of another transport says what to write', async () => {
    const port = await freePort();
    await using _server = await startEverything('sse', port);
    const added = await commands.run(['add', `http://127.0.0.1:${port}/sse`, '--namespace', 'old']);
    expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^old:echo /m) });
    const { code, stderr } = await commands.run(['add', `http://127.0.0.1:${port}/elsewhere`, '--namespace', 'wrong']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/status 404\. Check its path; an old server needs the transport sse .*`--transport sse`/);
    for (const name of ['old', 'wrong']) expect(await commands.run(['sources', 'remove', name, '--yes'])).toMatchObject({ code: 0 });
  });

  test('[CLI-1] [SRC-8] shows with --dry-run what would start and its tools, and saves nothing', async () => {
    const { code, stdout, stderr } = await commands.add('tried', ['plain'], ['--dry-run', '--secret', 'A_TOKEN=not-to-be-kept']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^tried:echo +The tool echo/m);
    expect(stderr).toContain(`tried would be started with ${process.execPath}`);
    expect(stderr).toMatch(/It would have \d+ tools\. Nothing is saved\./);
    expect(stdout + stderr).not.toContain('not-to-be-kept');
    expect(await commands.run(['sources', 'show', 'tried'])).toMatchObject({ code: 1 });
    expect((await commands.run(['secrets', 'list', '--json'])).stdout).not.toContain('A_TOKEN');
  });

  test('[CLI-1] [SRC-8] ends --dry-run with 1 and the reason when the start would fail', async () => {
    const { code, stdout, stderr } = await commands.add('tried', ['crash-handshake', '3', 'no licence'], ['--dry-run']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('toolcrib: The source does not work yet (SERVICE_UNAVAILABLE): ');
    expect(stderr).toContain('no licence');
    const json = await commands.run([...addFixture('tried', ['plain'], ['--dry-run', '--json'])]);
    expect(JSON.parse(json.stdout)).toMatchObject({ namespace: 'tried', error: null, starts: { runtime: 'node' } });
  });

  test('[CLI-1] [SRC-10] names variables that the manifest requires and says how to give them', async () => {
    const environment_variables = [
      { name: 'A_KEY', required: true, secret: true },
      { name: 'REGION', required: true },
    ];
    const manifest = { name: 'needy', packages: [{ runtime: 'node', command: ['./server.js'], environment_variables }] };
    const directory = await pluginDirectory({ 'plugin.json': manifest, 'server.js': '' });
    const missing = 'toolcrib: These required values are missing: A_KEY (--secret A_KEY), REGION (--env REGION=…)';
    for (const options of [[], ['--dry-run']]) {
      const { code, stderr } = await commands.run(['add', directory, '--name', 'needy', ...options]);
      expect(code).toBe(1);
      expect(stderr).toContain(missing);
    }
    expect(await commands.run(['sources', 'show', 'needy'])).toMatchObject({ code: 1 });
  });

  test('[CLI-1] is refused for anyone but administrators, with a message that says so', async () => {
    const token = (await commands.run(['token', 'bob'])).stdout.trim();
    const { code, stderr } = await commands.run(addFixture('bobs', ['plain']), { env: { TOOLCRIB_TOKEN: token } });
    expect(code).toBe(1);
    expect(stderr).toContain('for administrators');
  });

  test.skipIf(!hasTerminal)('[CLI-1] counts the seconds in one line at a terminal', async () => {
    const seen = await atTerminal(addFixture('at-terminal', ['plain']), commands.server.url);
    // oxlint-disable-next-line no-control-regex -- the control sequence that clears a line
    expect(seen).toMatch(/\r\u001b\[2K.*Starting at-terminal… \d+ s/);
    expect(seen).toContain('at-terminal:echo');
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
