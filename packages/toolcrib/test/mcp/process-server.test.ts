import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startServerProcess } from '../../src/sources/mcp/process/server-process.ts';
import { childrenSaid, fixtureServer, livingInGroups, livingOf, processParts, said, startFixture } from '../fixtures/mcp/start-fixture.ts';

/** The waiting is cut short where the waiting itself is not what is tested. */
const hasty = { patience: { politeMs: 50, termMs: 50 } };

describe('a server that is stopped', () => {
  test('[LIFE-4] ends by itself if it heeds the end of its input', async () => {
    await using fixture = await startFixture('plain');
    expect(livingInGroups([fixture.server.pid])).toEqual([fixture.server.pid]);
    expect(fixture.recorded()).toEqual([`${fixture.server.pid}.json`]);
    await fixture.server.stop();
    expect(await fixture.server.exited).toEqual({ code: 0, signal: null });
    expect(livingInGroups([fixture.server.pid])).toEqual([]);
    expect(fixture.recorded()).toEqual([]);
  });

  test('[LIFE-4] gets SIGTERM if it does not, and SIGKILL if it ignores that', async () => {
    await using fixture = await startFixture('stubborn', hasty);
    await fixture.server.stop();
    expect(await fixture.server.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(fixture.log.tail(10).map(({ text }) => text)).toContain('SIGTERM ignored');
    expect(livingInGroups([fixture.server.pid])).toEqual([]);
  });

  test('[LIFE-5] is gone with its children after the default time, even if it ignores everything', async () => {
    await using fixture = await startFixture('forks 2 stubborn');
    await childrenSaid(fixture.log, 2);
    expect(livingInGroups([fixture.server.pid])).toHaveLength(3);
    await fixture.server.stop();
    expect(livingInGroups([fixture.server.pid])).toEqual([]);
  });

  test('[LIFE-5] is ended with children that outlive their polite parent', async () => {
    await using fixture = await startFixture('forks 2', { patience: { politeMs: 20_000, termMs: 50 } });
    await childrenSaid(fixture.log, 2);
    await fixture.server.stop();
    expect(await fixture.server.exited).toEqual({ code: 0, signal: null });
    expect(livingInGroups([fixture.server.pid])).toEqual([]);
    expect(fixture.recorded()).toEqual([]);
  });

  test('[LIFE-5] is ended with children that have left the group, as browsers do', async () => {
    await using fixture = await startFixture('forks 2 setsid', hasty);
    const children = await childrenSaid(fixture.log, 2);
    expect(livingInGroups([fixture.server.pid])).toEqual([fixture.server.pid]);
    expect(livingOf(children)).toHaveLength(2);
    await fixture.server.stop();
    expect(livingOf(children)).toEqual([]);
  });

  test('[LIFE-5] has its children ended even if it died by itself', async () => {
    await using fixture = await startFixture('forks 2', hasty);
    await childrenSaid(fixture.log, 2);
    process.kill(fixture.server.pid, 'SIGKILL');
    expect(await fixture.server.exited).toEqual({ code: null, signal: 'SIGKILL' });
    await fixture.server.stop();
    expect(livingInGroups([fixture.server.pid])).toEqual([]);
  });

  test('is stopped once, even if asked twice at once or again', async () => {
    await using fixture = await startFixture('plain');
    const both = [fixture.server.stop(), fixture.server.stop()];
    expect(both[0]).toBe(both[1]);
    await Promise.all(both);
    await fixture.server.stop();
    expect(fixture.log.tail(100).filter(({ text }) => text.includes('ended with code'))).toHaveLength(1);
  });

  test('[LIFE-5] leaves no process, no record and no open file, even if there are a hundred', async () => {
    using parts = processParts();
    const openFiles = () => readdirSync('/proc/self/fd').length;
    const round = async () => {
      const server = await startServerProcess({ ...parts, command: [process.execPath, '-e', 'process.stdin.resume()'] });
      await server.stop();
      return server.pid;
    };
    const rounds = async (count: number) => {
      const pids: number[] = [];
      while (pids.length < count) pids.push(...(await Promise.all([round(), round(), round(), round()])));
      return pids;
    };
    await rounds(4);
    const before = openFiles();
    const pids = await rounds(100);
    expect(openFiles()).toBe(before);
    expect(livingInGroups(pids)).toEqual([]);
    expect(parts.recorded()).toEqual([]);
  });
});

describe('a server that is started', () => {
  test('[ENV-3] has the environment it was given and nothing of ours', async () => {
    using parts = processParts();
    const command = [process.execPath, '-e', 'console.error(JSON.stringify(process.env))'];
    const server = await startServerProcess({ ...parts, env: { ONLY: 'this' }, command });
    await server.exited;
    expect(JSON.parse(server.lastWords(1)[0] ?? '')).toEqual({ ONLY: 'this' });
  });

  test('gets its arguments without a shell', async () => {
    using parts = processParts();
    const hostile = ['$(echo expanded)', '; echo more', '`id`', '*', '"quoted"', "it's"];
    const command = [process.execPath, '-e', 'console.error(JSON.stringify(process.argv.slice(1)))', '--', ...hostile];
    const server = await startServerProcess({ ...parts, command });
    await server.exited;
    expect(JSON.parse(server.lastWords(1)[0] ?? '')).toEqual(hostile);
  });

  test('is looked for in the PATH of the given environment', async () => {
    using parts = processParts();
    const program = join(parts.dataDir, 'only-here');
    writeFileSync(program, '#!/bin/sh\necho found >&2\n', { mode: 0o755 });
    const server = await startServerProcess({ ...parts, env: { PATH: parts.dataDir }, command: ['only-here'] });
    await server.exited;
    expect(server.lastWords(5)).toEqual(['found']);
  });

  test('[ERR-5] has its last output available when it has exited', async () => {
    using parts = processParts();
    const program = `for (let i = 0; i < 5000; i++) console.error('line ' + i); process.exitCode = 9`;
    const server = await startServerProcess({ ...parts, command: [process.execPath, '-e', program] });
    expect(await server.exited).toEqual({ code: 9, signal: null });
    expect(server.lastWords(2)).toEqual(['line 4998', 'line 4999']);
    expect(parts.log.tail(1)[0]?.text).toBe(`Process ${server.pid} (node) ended with code 9.`);
  });

  test('holds up nobody if it floods stderr', async () => {
    await using fixture = await startFixture('flood-stderr', hasty);
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    await fixture.server.stop();
    expect(fixture.log.tail(10_000).length).toBeLessThanOrEqual(1000);
  });

  const notExecutable = (dataDir: string) => {
    writeFileSync(join(dataDir, 'plain-file'), 'text');
    return join(dataDir, 'plain-file');
  };
  const cases: [string, (dataDir: string) => { command: string[]; cwd?: string }, object][] = [
    [
      'a program that is not there',
      () => ({ command: ['toolcrib-no-such-program'] }),
      { code: 'NOT_FOUND', field: 'command', message: expect.stringContaining('toolcrib-no-such-program was not found. Install it') },
    ],
    [
      'uvx that is not there',
      () => ({ command: ['/nowhere/uvx'] }),
      { code: 'NOT_FOUND', message: expect.stringContaining('Check its path, or install uv') },
    ],
    [
      '[ERR-2] docker that is not there',
      () => ({ command: ['/nowhere/docker', 'run'] }),
      { name: 'EngineUnavailableError', code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('Docker not running') },
    ],
    [
      'a file that may not be run',
      (dataDir) => ({ command: [notExecutable(dataDir)] }),
      { code: 'VALIDATION_ERROR', field: 'command', message: expect.stringContaining('chmod +x') },
    ],
    [
      'a working directory that is not there',
      (dataDir) => ({ command: ['node'], cwd: join(dataDir, 'nowhere') }),
      { code: 'NOT_FOUND', field: 'cwd', message: expect.stringContaining('does not exist') },
    ],
    [
      'a working directory that is a file',
      (dataDir) => ({ command: ['node'], cwd: notExecutable(dataDir) }),
      { code: 'NOT_FOUND', field: 'cwd' },
    ],
    ['no command at all', () => ({ command: [] }), { code: 'VALIDATION_ERROR', field: 'command' }],
    ['an argument with a zero byte', () => ({ command: ['node', 'a\u0000b'] }), { code: 'VALIDATION_ERROR', field: 'command' }],
    ['arguments without measure', () => ({ command: ['node', 'x'.repeat(4_000_000)] }), { code: 'VALIDATION_ERROR', field: 'command' }],
  ];
  test.each(cases)('is refused with what to do: %s', async (_name, make, expected) => {
    using parts = processParts();
    await expect(startServerProcess({ ...parts, ...make(parts.dataDir) })).rejects.toMatchObject({
      name: expect.stringMatching(/^(?:CribError|EngineUnavailableError)$/),
      ...expected,
    });
    expect(parts.recorded()).toEqual([]);
  });

  test('is not left running if it cannot be recorded', async () => {
    using parts = processParts();
    let pid = 0;
    const registry = {
      ...parts.registry,
      add(process: { pid: number; program: string }) {
        pid = process.pid;
        mkdirSync(join(parts.dataDir, 'processes', `${pid}.json`));
        parts.registry.add(process);
      },
    };
    const started = startServerProcess({ ...parts, registry, command: [process.execPath, fixtureServer, 'stubborn'] });
    await expect(started).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('could not be recorded') });
    while (livingInGroups([pid]).length > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  test('is logged when it comes and goes', async () => {
    await using fixture = await startFixture('plain');
    expect(await said(fixture.log, 'started')).toBe(`Process ${fixture.server.pid} (node) started.`);
    await fixture.server.stop();
    expect(await said(fixture.log, 'ended')).toBe(`Process ${fixture.server.pid} (node) ended with code 0.`);
  });
});
