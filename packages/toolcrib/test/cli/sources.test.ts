import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sourceListSchema, sourceSchema } from '../../src/api.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { atTerminal, hasTerminal } from './at-terminal.ts';
import { startSourceCommands } from './source-commands.ts';

let commands: Awaited<ReturnType<typeof startSourceCommands>>;
beforeAll(async () => {
  commands = await startSourceCommands();
});
afterAll(() => commands[Symbol.asyncDispose]());

const sources = (...args: string[]) => commands.run(['sources', ...args]);
const stateOf = async (namespace: string) => (await commands.json(['sources', 'show', namespace])).status.state as string;

describe('toolcrib sources', () => {
  test('[CLI-1] says how to add a source when there are none', async () => {
    const { code, stdout, stderr } = await sources();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^NAMESPACE +STATE +HEALTH +TOOLS +TRANSPORT +SERVER OR ERROR\nbuiltin +running +\w+ +\d+ +builtin\n$/);
    expect(stderr).toContain('`toolcrib add npx ');
  });

  test('[CLI-1] prints a table of what is up, what broke and why', async () => {
    await commands.add('up', ['plain']);
    await commands.add('down', ['crash-handshake', '3', 'gone fishing']);
    const { code, stdout, stderr } = await sources();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^up +running +healthy +\d+ +stdio +fixture-plain 1\.0\.0$/m);
    expect(stdout).toMatch(/^down +error +\w+ +stdio +The server's process ended with code 3 before it was ready\. gone fishing$/m);
    expect(sourceListSchema.parse(await commands.json(['sources'])).sources).toHaveLength(3);
  });

  test('[CLI-1] shows everything about one source and lists its tools', async () => {
    const { code, stdout } = await sources('show', 'up');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^State +running, \d+ tools$/m);
    expect(stdout).toMatch(/^Protocol +2025-11-25$/m);
    expect(stdout).toMatch(/^Command +\S+node \S+server\.js plain$/m);
    expect(stdout).toMatch(/^ {2}up:echo +The tool echo/m);
    expect(sourceSchema.parse(await commands.json(['sources', 'show', 'up']))).toMatchObject({ name: 'up' });
    const { id } = await commands.json(['sources', 'show', 'up']);
    expect((await sources('show', id)).stdout).toBe(stdout);
  });

  test('[CLI-1] [MC-T8] stops and starts all at once, and goes on when one fails', async () => {
    const table = ({ stdout }: { stdout: string }) =>
      [...stdout.matchAll(/^(up|down) +(\w+)/gm)].map(([, name, state]) => `${name} ${state}`);
    const stopped = await sources('stop', '--all');
    expect(table(stopped)).toEqual(['down stopped', 'up stopped']);
    expect(stopped).toMatchObject({ code: 0, stderr: expect.stringContaining('`toolcrib sources start --all` starts them again') });
    expect(await stateOf('builtin')).toBe('running');
    const started = await sources('start', '--all');
    expect(table(started)).toEqual(['down error', 'up running']);
    expect(started).toMatchObject({ code: 1, stderr: expect.stringMatching(/^toolcrib: down: .*ended with code 3/) });
    expect(await sources('remove', '--all')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--all is for start, stop and restart'),
    });
    // [NAME-2]
    await commands.add('under_score', ['plain']);
    expect(await sources('stop', 'under_score')).toMatchObject({ code: 0 });
    await sources('remove', 'under_score', '--yes');
    expect(await sources('stop', 'up', '--all')).toMatchObject({ code: 2, stderr: expect.stringContaining('Give --all or up') });
  });

  test('[LIFE-1] [MC-T2] stops, starts, restarts and refreshes a source', async () => {
    await commands.add('by-hand', ['plain']);
    expect(await sources('stop', 'by-hand')).toMatchObject({ code: 0, stdout: 'by-hand is stopped: its tools are not listed.\n' });
    expect(await stateOf('by-hand')).toBe('stopped');
    for (const action of ['start', 'restart', 'refresh']) {
      const { code, stdout } = await sources(action, 'by-hand');
      expect({ action, code, stdout }).toEqual({
        action,
        code: 0,
        stdout: expect.stringMatching(/^by-hand is running and has \d+ tools\.\n$/),
      });
    }
    expect(sourceSchema.parse(await commands.json(['sources', 'restart', 'by-hand']))).toMatchObject({ status: { state: 'running' } });
  });

  test('[MC-NT1] [LIFE-7] refuses to start a disabled source until it is enabled', async () => {
    await commands.add('on-off', ['plain']);
    expect(await sources('disable', 'on-off')).toMatchObject({ code: 0, stdout: expect.stringContaining('on-off is disabled') });
    const { code, stderr } = await sources('start', 'on-off');
    expect(code).toBe(1);
    expect(stderr).toMatch(/toolcrib: on-off could not be started: The source is disabled: enable it first\n$/);
    expect(await stateOf('on-off')).toBe('disabled');
    expect(await sources('enable', 'on-off')).toMatchObject({ code: 0, stdout: expect.stringContaining('on-off is running') });
  });

  test('[CLI-1] shows the current output of a server after a failed restart, and not older output', async () => {
    await commands.add('failing', ['crash-handshake', '3', 'once more']);
    const { code, stdout, stderr } = await sources('restart', 'failing');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const [progress = ''] = stderr.split('toolcrib:');
    expect(progress).toBe('Restarting failing…\n  ready\n  once more\n');
    expect(stderr).toContain('failing could not be started (SERVICE_UNAVAILABLE)');
    expect(await commands.json(['sources', 'restart', 'failing'])).toEqual({
      error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('once more') },
    });
    await sources('disable', 'failing');
    const enabled = await sources('enable', 'failing');
    expect(enabled).toMatchObject({ code: 1, stderr: expect.stringContaining('could not be started and stays disabled') });
    expect(enabled.stderr).toContain('toolcrib sources enable failing');
  });

  test('[CLI-1] removes a source without a terminal only with --yes', async () => {
    await commands.add('brief', ['plain']);
    expect(await sources('remove', 'brief')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('pass --yes to remove brief without asking'),
    });
    expect(await sources('remove', 'brief', '--yes')).toMatchObject({ code: 0, stdout: 'brief is removed.\n', stderr: '' });
    expect(await sources('remove', 'brief', '--yes')).toMatchObject({
      code: 1,
      stderr: 'toolcrib: There is no source "brief": `toolcrib sources` lists all\n',
    });
  });

  test.skipIf(!hasTerminal)('[CLI-1] asks at a terminal before it removes a source, and only a yes counts', async () => {
    await commands.add('precious', ['plain']);
    const answered = (answer: string) => atTerminal(['sources', 'remove', 'precious'], commands.server.url, { question: '[y/N]', answer });
    expect(await answered('no\r')).toMatch(/Remove precious \(precious\), its \d+ tools and its secrets\? \[y\/N\].*Nothing was removed/s);
    expect(await answered('\u0003')).toContain('Nothing was removed');
    expect(await stateOf('precious')).toBe('running');
    expect(await answered('y\r')).toContain('precious is removed.');
  });

  test.each(['stop', 'disable', 'remove'])('[CLI-1] refuses to %s the built-in tools', async (action) => {
    const { code, stderr } = await sources(action, 'builtin');
    expect(code).toBe(1);
    expect(stderr).toContain('builtin is built in and cannot be');
  });

  test.each([
    [['shwo', 'up'], 'There is no `sources shwo`: did you mean `toolcrib sources show`? See `toolcrib sources --help`.'],
    [['up'], 'There is no `sources up`: `toolcrib sources show up` shows the source of that name. See `toolcrib sources --help`.'],
    [['stop'], 'stop needs the namespace of a source. See `toolcrib sources --help`.'],
  ])('[CLI-1] refuses toolcrib sources %j and says what to do', async (args, message) => {
    expect(await sources(...args)).toMatchObject({ code: 2, stdout: '', stderr: `toolcrib: ${message}\n` });
  });

  test.each(['nobody', '../secrets', '..', 'a/b'])(
    '[CLI-1] finds no source named %j, wherever that would lead as a path',
    async (written) => {
      expect(await sources('show', written)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('There is no source "'),
      });
    },
  );

  test('[CLI-1] removes control characters from what a server says about itself', async () => {
    const evil = '\u001b]0;owned\u0007evil\u001b[2J\rline\u202e';
    const source = {
      id: 'x',
      name: evil,
      namespace: evil,
      enabled: true,
      source_type: 'mcp',
      health: evil,
      managed_by: null,
      created_at: 0,
      updated_at: 0,
      definition: { transport_type: evil, command: [evil], environment: { [evil]: evil }, from_the_future: 1 },
      status: { state: evil, tools: 1, code: evil, message: evil },
      server: { name: evil, version: evil },
    };
    await using other = await startHttpServer((request, response) => {
      const body = request.url?.startsWith('/api/tools')
        ? { tools: [{ name: evil, description: evil, state: 'active' }], next_cursor: null }
        : request.url === '/api/sources'
          ? { sources: [source] }
          : source;
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
    for (const args of [['sources'], ['sources', 'show', 'x']]) {
      const { code, stdout } = await commands.run([...args, '--url', other.origin, '--token', 'x']);
      expect(code).toBe(0);
      // oxlint-disable-next-line no-control-regex -- these are the characters that must not be there
      expect(stdout).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
      expect(stdout).toContain('evil');
    }
  });
});
