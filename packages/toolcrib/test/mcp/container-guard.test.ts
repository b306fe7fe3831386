import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { guardScript, launchScript } from '../../src/sources/mcp/container/guard-script.ts';
import { livingOf } from '../fixtures/mcp/start-fixture.ts';
import { untilSeen } from '../running-server.ts';

/** The shells that images have; busybox is the one of the test image. */
const shells = ['sh', 'dash', 'bash'].map((name) => ({ name, path: `/bin/${name}`, here: existsSync(`/bin/${name}`) }));

function startGuard(shell: string) {
  const child = spawn(shell, ['-c', guardScript], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  return { child, next: async () => ((await once(lines, 'line')) as [string])[0] };
}

/** Two processes that ignore SIGTERM, in a session of their own as an exec'd one is, and one more that has left it. */
async function startStubborn(shell: string) {
  const program = 'trap "" TERM; sleep 1000 & setsid sleep 1000 & echo "$!"; wait; wait';
  const child = spawn(shell, ['-c', launchScript, 'sh', shell, '-c', program], { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const [pid] = (await once(createInterface({ input: child.stderr }), 'line')) as [string];
  expect(Number(pid)).toBe(child.pid);
  child.stdin.write('\n');
  const [stray] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { leader: Number(pid), all: [Number(pid), Number(stray)] };
}

for (const { name, path, here } of shells) {
  test.skipIf(!here)(`[MCP-4] the guard ends a whole session in ${name}${here ? '' : ', which is not here'}`, async () => {
    const guard = startGuard(path);
    expect(await guard.next()).toBe('ready');
    const { leader, all } = await startStubborn(path);
    guard.child.stdin.write(`+${leader}\n!${leader}\n`);
    expect(await guard.next()).toBe(`ended ${leader}`);
    expect(livingOf(all)).toEqual([]);
    guard.child.stdin.end();
    await once(guard.child, 'exit');
  });

  test.skipIf(!here)(
    `[MCP-4] the guard ends what it watches when its input closes in ${name}${here ? '' : ', which is not here'}`,
    async () => {
      const guard = startGuard(path);
      expect(await guard.next()).toBe('ready');
      const [first, second] = await Promise.all([startStubborn(path), startStubborn(path)]);
      guard.child.stdin.write(`+${first.leader}\n+${second.leader}\n`);
      guard.child.stdin.destroy();
      // Nobody reads what it says any more.
      guard.child.stdout.destroy();
      await once(guard.child, 'exit');
      await untilSeen(() => livingOf([...first.all, ...second.all]).length === 0);
    },
  );
}

test('[MCP-4] ending a process twice, or one that never existed, does no harm', async () => {
  const guard = startGuard('/bin/sh');
  expect(await guard.next()).toBe('ready');
  guard.child.stdin.write('!999999999\n');
  expect(await guard.next()).toBe('ended 999999999');
  guard.child.stdin.write('!999999999\n');
  expect(await guard.next()).toBe('ended 999999999');
  guard.child.stdin.end();
  await once(guard.child, 'exit');
});

test('[MCP-4] a server whose process id did not arrive does not begin', async () => {
  const child = spawn('/bin/sh', ['-c', launchScript, 'sh', 'echo', 'begun'], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.end();
  const said = Buffer.concat((await child.stdout.toArray()) as Buffer[]).toString();
  expect(said).toBe('');
});
