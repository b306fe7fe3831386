import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCallTable } from '../../src/cli/call-table.ts';
import { parseMoment } from '../../src/cli/parse-moment.ts';
import { atTerminal, hasTerminal } from './at-terminal.ts';
import { startSourceCommands } from './source-commands.ts';

describe('toolcrib calls', () => {
  let commands: Awaited<ReturnType<typeof startSourceCommands>>;
  beforeAll(async () => {
    commands = await startSourceCommands();
  });
  afterAll(() => commands[Symbol.asyncDispose]());

  const call = (tool: string, user: string) => commands.run(['call', tool, '--as', user]);
  const toolsIn = (table: string) => [...table.matchAll(/\S+:\S+(?= |$)/gm)].map(([tool]) => tool).filter((word) => /^[a-z]/.test(word));

  test('[CLI-1] says what to do when nothing was called yet, and when nothing matches', async () => {
    expect(await commands.run(['calls'])).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('makes a first call') });
    const { code, stderr } = await commands.run(['calls', '--user', 'nobody', '--since', '1h']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('No call matches --since, --user') });
  });

  test('[CLI-1] [BFF-6] lists the newest call last, with the name of the person, and filters', async () => {
    await call('builtin:uuid', 'alice');
    await call('builtin:hash', 'alice');
    await call('nowhere:nothing', 'bob');
    const { code, stdout } = await commands.run(['calls']);
    expect(code).toBe(0);
    const [header, ...lines] = stdout.trimEnd().split('\n');
    expect(header).toMatch(/^TIME +STATUS +TOOK +USER +TOOL +ERROR$/);
    expect(lines).toEqual([
      expect.stringMatching(/ completed +[\d.]+ms +alice +builtin:uuid$/),
      expect.stringMatching(/ failed +[\d.]+ms +alice +builtin:hash +VALIDATION_ERROR$/),
      expect.stringMatching(/ failed +[\d.]+ms +bob +nowhere:nothing +NOT_FOUND$/),
    ]);
    const listed = async (...args: string[]) => toolsIn((await commands.run(['calls', ...args])).stdout);
    expect(await listed('--user', 'bob')).toEqual(['nowhere:nothing']);
    expect(await listed('--status', 'failed,timed_out')).toEqual(['builtin:hash', 'nowhere:nothing']);
    expect(await listed('--status', 'completed', '--status', 'cancelled')).toEqual(['builtin:uuid']);
    expect(await listed('--origin', 'caller')).toEqual(['builtin:hash', 'nowhere:nothing']);
    expect(await listed('--origin', 'source,gateway', '--origin', 'tool')).toEqual([]);
    expect(await commands.run(['calls', '--origin', 'nobody'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--origin must be one of'),
    });
    expect(await listed('--tool', 'builtin.uuid')).toEqual(['builtin:uuid']);
    expect(await listed('--source', 'builtin', '--since', 'yesterday')).toEqual(['builtin:uuid', 'builtin:hash']);
    expect(await listed('--until', 'yesterday')).toEqual([]);
    const newest = await commands.run(['calls', '-n', '1']);
    expect(toolsIn(newest.stdout)).toEqual(['nowhere:nothing']);
    expect(newest.stderr).toContain('--limit shows more');
    const { calls } = await commands.json(['calls', '--user', 'alice', '--status', 'failed']);
    expect(calls).toEqual([expect.objectContaining({ tool: 'builtin:hash', user_name: 'alice', error_code: 'VALIDATION_ERROR' })]);
    expect(await listed('--user', calls[0].subject)).toEqual(['builtin:uuid', 'builtin:hash']);
  });

  test('[CLI-1] follows calls with -f as they end, until Ctrl-C', async () => {
    await using table = commands.start(['calls', '-f', '-n', '1', '--user', 'alice']);
    await using json = commands.start(['calls', '-f', '-n', '1', '--json']);
    await Promise.all([table.printed('ERROR\n'), json.printed('\n')]);
    await call('builtin:uuid', 'bob');
    await call('builtin:calculator', 'alice');
    expect(toolsIn(await table.printed('builtin:calculator'))).toEqual(['builtin:hash', 'builtin:calculator']);
    const printed = await json.printed('"builtin:calculator"');
    const tools = printed
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { tool: string }).tool);
    expect(tools).toEqual(['nowhere:nothing', 'builtin:uuid', 'builtin:calculator']);
    for (const program of [table, json]) {
      program.child.kill('SIGINT');
      expect(await program.ended).toMatchObject({ code: 0, stderr: '' });
    }
  });

  test.skipIf(!hasTerminal)('[CLI-1] cuts its lines to 80 columns, whatever the caller asked for', async () => {
    const asked = `nowhere:\u202e${'x'.repeat(300)}`;
    await call(asked, 'bob');
    const shown = await atTerminal(['calls', '-n', '1'], commands.server.url);
    expect(shown).not.toContain('\u202e');
    const line = shown.split('\r\n').find((one) => one.includes('nowhere:x')) ?? '';
    // oxlint-disable-next-line no-control-regex -- colours take no room
    const plain = line.replaceAll(/\x1b\[\d+m/g, '');
    expect(plain).toContain('…');
    expect(plain.length).toBeLessThanOrEqual(80);
  });

  test('[CLI-1] refuses filters that it cannot read, and says how to write them', async () => {
    const refused = async (...args: string[]) => {
      const { code, stderr } = await commands.run(['calls', ...args]);
      return [code, stderr];
    };
    expect(await refused('--status', 'broken')).toEqual([2, expect.stringMatching(/--status must be one of .*failed.*not "broken"/)]);
    expect(await refused('--since', 'last tuesday')).toEqual([2, expect.stringMatching(/--since must be a time such as 1h.*yesterday/)]);
    expect(await refused('--since', 'today', '--until', 'yesterday')).toEqual([
      2,
      expect.stringContaining('--since must be before --until'),
    ]);
    expect(await refused('--source', 'nowhere')).toEqual([1, expect.stringContaining('There is no such source')]);
  });
});

test('[CLI-1] points in time are read as people write them, in the time zone of the machine', () => {
  const now = new Date(2026, 10, 17, 14, 30).getTime();
  const local = (...parts: [number, number, number, number?, number?]) => new Date(...parts).getTime();
  for (const [text, expected] of Object.entries({
    '90s': now - 90_000,
    '2h': now - 7_200_000,
    '1w': now - 7 * 86_400_000,
    now,
    today: local(2026, 10, 17),
    yesterday: local(2026, 10, 16),
    '2026-11-01': local(2026, 10, 1),
    '2026-11-01T12:30': local(2026, 10, 1, 12, 30),
    '2026-11-01 12:30': local(2026, 10, 1, 12, 30),
    '2026-11-01T12:30:00Z': Date.UTC(2026, 10, 1, 12, 30),
    '2026-11-01T12:30:00+02:00': Date.UTC(2026, 10, 1, 10, 30),
  }))
    expect([text, parseMoment(text, 'since', now)]).toEqual([text, expected]);
  for (const text of ['', 'h', '1y', '-1h', '2026-13-01', '2026-11', '17.11.2026', '1e3s', 'today 12:00'])
    expect(() => parseMoment(text, 'since', now)).toThrow(/--since must be a time/);
});

test('[CLI-1] a failure reported by a tool does not read as an outage', () => {
  const failed = (error_origin: string | null | undefined) => {
    const named = { call_id: 'c', subject: 'u-1', user_name: null, tool: 'a:b', started_at: 0, duration_us: 0 };
    return { ...named, status: 'failed', error_code: 'SERVICE_UNAVAILABLE', error_origin };
  };
  const lines = createCallTable().further(['tool', 'source', null, undefined].map(failed));
  expect(lines.map((line) => line.split(/ {2,}/).at(-1))).toEqual([
    'reported by the tool',
    'SERVICE_UNAVAILABLE',
    'SERVICE_UNAVAILABLE',
    'SERVICE_UNAVAILABLE',
  ]);
});

test('[CLI-1] a call of another day is shown with its day, and long durations in minutes and hours', () => {
  const now = new Date(2026, 10, 17, 14, 30).getTime();
  const sample = { call_id: 'c', subject: 'u-1', user_name: null, tool: 'a:b', status: 'completed', error_code: null };
  const at = (year: number, month: number, day: number) => new Date(year, month, day, 9, 5, 7).getTime();
  const lines = createCallTable({ now: () => now }).further([
    { ...sample, started_at: at(2026, 10, 17), duration_us: 1499 },
    { ...sample, started_at: at(2026, 10, 16), duration_us: 999_700 },
    { ...sample, started_at: at(2025, 11, 31), duration_us: 125_000_000 },
    { ...sample, started_at: at(2026, 0, 1), duration_us: 3_725_000_000 },
  ]);
  expect(lines.map((line) => line.split(/ {2,}/).slice(0, 4))).toEqual([
    ['09:05:07', 'completed', '1.5ms', 'u-1'],
    ['11-16 09:05:07', 'completed', '1.0s', 'u-1'],
    ['2025-12-31 09:05:07', 'completed', '2m5s', 'u-1'],
    ['01-01 09:05:07', 'completed', '1h2m', 'u-1'],
  ]);
});
