import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ProcessLimits } from '../../src/model/process-limits.ts';
import { createResourceWatch } from '../../src/sources/mcp/process/resource-watch.ts';
import { crashError } from '../../src/sources/mcp/process/process-exit.ts';
import { startFixture } from '../fixtures/mcp/start-fixture.ts';
import { processesMarked } from '../fixtures/process-table.ts';
import { part } from '../parts.ts';

const found = part('prlimit');
const prlimit = found.available ? found.url : undefined;

const bounds = (limits: ProcessLimits) => ({ bounds: { limits, prlimit, watch: createResourceWatch({ everyMs: 10 }), account: null } });
const call = (name: string, args: object) =>
  `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })}\n`;

describe.skipIf(!found.available)('a server with limits', () => {
  test('[SEC-2] is ended when it uses more memory than allowed, with the reason', async () => {
    await using fixture = await startFixture('plain', bounds({ memory_mb: 200 }));
    fixture.server.stdin.write(call('fill', { mb: 400 }));
    const exit = await fixture.server.exited;
    expect(exit.signal).toBe('SIGKILL');
    expect(exit.reason).toMatch(/^was ended, because it used \d+ MiB of memory, and may use 200 \(memory_mb\)$/);
    expect(crashError(exit, [])).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('may use 200') });
    expect(fixture.log.tail(10).map(({ text }) => text)).toContainEqual(expect.stringContaining('may use 200 (memory_mb)'));
  });

  test.each([false, true])('[SEC-2] is ended with all its children when they are too many; left its group: %s', async (setsid) => {
    const mark = `TOOLCRIB_TEST_MARK=${randomUUID()}`;
    const [name = '', value = ''] = mark.split('=');
    await using fixture = await startFixture('plain', {
      ...bounds({ processes: 3 }),
      env: { PATH: process.env.PATH ?? '', [name]: value },
    });
    fixture.server.stdin.write(call('multiply', { count: 3, setsid }));
    expect((await fixture.server.exited).reason).toBe('was ended, because it had 4 processes, and may have 3 (processes)');
    await fixture.server.stop();
    // On a busy machine a killed process takes a moment to disappear.
    await expect.poll(() => processesMarked(mark), { timeout: 10_000 }).toEqual([]);
  });

  test('[SEC-2] is left alone as long as it keeps to its limits', async () => {
    await using fixture = await startFixture('plain', bounds({ processes: 3, memory_mb: 1000, open_files: 200, cpu_seconds: 60 }));
    fixture.server.stdin.write(call('multiply', { count: 2 }) + call('slow', { ms: 50, text: 'still here' }));
    const answers: string[] = [];
    for await (const answer of fixture.server.stdout as AsyncIterable<Buffer>) {
      answers.push(String(answer));
      if (answers.join('').includes('still here')) break;
    }
    expect(answers.join('')).toContain('still here');
  });

  test('[SEC-2] cannot open more files than allowed', async () => {
    await using fixture = await startFixture('plain', bounds({ open_files: 100 }));
    fixture.server.stdin.write(call('files', { count: 500 }));
    const [answer] = (await fixture.server.stdout.take(1).toArray()) as Buffer[];
    const opened = Number(JSON.parse(String(answer)).result.content[0].text);
    expect(opened).toBeGreaterThan(10);
    expect(opened).toBeLessThan(100);
  });

  test('[SEC-2] is ended when its processor time is used up', async () => {
    await using fixture = await startFixture('plain', bounds({ cpu_seconds: 1 }));
    fixture.server.stdin.write(call('burn', {}));
    const exit = await fixture.server.exited;
    expect(exit).toMatchObject({ signal: 'SIGXCPU', reason: 'was ended, because it had used up its processor time (cpu_seconds)' });
  });
});
