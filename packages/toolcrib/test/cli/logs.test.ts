import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sourceLogSchema } from '../../src/api.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { startSourceCommands } from './source-commands.ts';

let commands: Awaited<ReturnType<typeof startSourceCommands>>;
beforeAll(async () => {
  commands = await startSourceCommands();
  await commands.add('talker', ['plain']);
});
afterAll(() => commands[Symbol.asyncDispose]());

describe('toolcrib logs', () => {
  test('[CLI-1] prints the last lines with their time, and marks events', async () => {
    const { code, stdout, stderr } = await commands.run(['logs', 'talker']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}toolcrib: \S/m);
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}ready$/m);
    const last = await commands.run(['logs', 'talker', '-n', '1']);
    expect(last.stdout).toBe(stdout.trimEnd().split('\n').slice(-1).concat('').join('\n'));
  });

  test('[CLI-1] prints the answer of the API with --json', async () => {
    expect(sourceLogSchema.parse(await commands.json(['logs', 'talker'])).lines).toContainEqual(
      expect.objectContaining({ stream: 'stderr', text: 'ready' }),
    );
  });

  test('[CLI-1] follows with -f until Ctrl-C', async () => {
    await using program = commands.start(['logs', 'talker', '-n', '1', '-f']);
    await program.printed('\n');
    await commands.run(['sources', 'stop', 'talker']);
    await commands.run(['sources', 'start', 'talker']);
    await program.printed('  ready\n');
    program.child.kill('SIGINT');
    expect(await program.ended).toMatchObject({ code: 0, stderr: '' });
  });

  test('[CLI-1] prints one JSON object per line with -f and --json', async () => {
    await using program = commands.start(['logs', 'talker', '-f', '--json']);
    const printed = await program.printed('"text":"ready"}\n');
    for (const line of printed.slice(0, printed.lastIndexOf('\n')).split('\n')) expect(JSON.parse(line)).toHaveProperty('time');
    program.child.kill('SIGINT');
    expect(await program.ended).toMatchObject({ code: 0 });
  });

  test('[CLI-1] [OPS-1] keeps the messages of a source with --record, and shows them with --wire', async () => {
    const before = await commands.run(['logs', 'talker', '--wire']);
    expect(before).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('--wire --record 15') });
    await commands.run(['logs', 'talker', '--record', '5']);
    await commands.run(['sources', 'refresh', 'talker']);
    const { code, stdout } = await commands.run(['logs', 'talker', '--wire', '--record', '0']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Z {2}→ \{.*"method":"tools\/list"/);
    expect(stdout).toMatch(/Z {2}← \{.*"tools":\[/);
    expect(stdout).toContain('toolcrib: Messages are no longer logged');
  });

  test('[CLI-1] says so when a source has printed nothing', async () => {
    expect(await commands.run(['logs', 'builtin'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('has written nothing'),
    });
  });

  test.each([
    [['nobody'], 1, 'There is no source "nobody"'],
    [['talker', '-n', '0'], 2, '--lines must be a whole number from 1 to 1000'],
    [[], 2, '<source> is missing'],
  ])('[CLI-1] refuses toolcrib logs %j', async (args, code, message) => {
    expect(await commands.run(['logs', ...args])).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
  });

  test('[CLI-1] survives a server that ends the stream or sends control characters', async () => {
    const line = { time: 0, stream: 'stderr', text: '\u001b[2Jevil\rline\u0007' };
    const source = { id: 'x', name: 'x', namespace: 'x', enabled: true, source_type: 'mcp', health: 'healthy' };
    await using other = await startHttpServer((request, response) => {
      if (request.url?.includes('/logs') !== true) {
        const whole = { ...source, definition: null, status: { state: 'running' }, server: null };
        response.setHeader('content-type', 'application/json').end(JSON.stringify(whole));
      } else {
        response.setHeader('content-type', 'text/event-stream').end(`event: line\ndata: ${JSON.stringify(line)}\n\n`);
      }
    });
    expect(await commands.run(['logs', 'x', '-f', '--url', other.origin, '--token', 'x'])).toMatchObject({
      code: 1,
      stdout: '1970-01-01T00:00:00.000Z  evilline\n',
      stderr: expect.stringContaining('ended the stream'),
    });
  });
});
