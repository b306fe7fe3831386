import { describe, expect, test } from 'vitest';
import { firstProcess } from '../fixtures/process-table.ts';
import { until, untilSeen } from '../running-server.ts';
import { supervise } from './supervise-fixture.ts';

const restart = { maxAttempts: 3, backoffMs: 1 };
/** A transient server inside a container; here the container is this machine, which makes no difference to its supervision. */
const contained = { container: { image: 'local/any' }, resilience: { restart } };
const patient = { ...contained, resilience: { restart: { maxAttempts: 3, backoffMs: 60_000 } } };

const pidOf = (output: { content: { text?: string }[] }) => (JSON.parse(output.content[0]?.text ?? '') as { pid: number }).pid;

describe('a transient server inside a container', () => {
  test('[MCP-5] has one long-lived session, and a fresh one for each call that is gone after it', async () => {
    await using source = supervise('plain', contained);
    await source.supervisor.start();
    const lasting = source.living();
    expect(lasting).toHaveLength(1);
    const used = [pidOf(await source.call('process')), pidOf(await source.call('process'))];
    await expect(source.call('crash')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(new Set([...used, ...lasting]).size).toBe(3);
    await untilSeen(() => source.living().length === 1);
    expect(source.living()).toEqual(lasting);
    expect(source.statuses.map(({ state }) => state)).toEqual(['starting', 'running']);
  });

  test('[MCP-6] has standbys beside it, each of which serves one call', async () => {
    await using source = supervise('plain', { ...contained, standby: 2 });
    await source.supervisor.start();
    const lasting = source.living()[0];
    const used: number[] = [];
    // A standby is of use once it has been initialised: until then a call starts one of its own.
    await until(async () => {
      const before = source.living();
      used.push(pidOf(await source.call('process')));
      return before.includes(used.at(-1) ?? 0);
    });
    expect(used).toEqual([...new Set(used)]);
    expect(used).not.toContain(lasting);
  });

  test('[INV-1] is asked for its tools on the long-lived session', async () => {
    await using source = supervise('plain', contained);
    await source.supervisor.start();
    await source.supervisor.refresh();
    expect(source.starts()).toBe(1);
  });

  test('[MCP-10] has its session reopened when it is lost, and a silent one noticed', async () => {
    await using source = supervise('plain', { ...contained, resilience: { restart, heartbeatIntervalMs: 20, requestTimeoutMs: 100 } });
    await source.supervisor.start();
    const first = firstProcess(source.living());
    process.kill(first, 'SIGSTOP');
    await untilSeen(() => source.notices.includes('heartbeat-failed'));
    process.kill(first, 'SIGKILL');
    await untilSeen(() => source.notices.includes('restarted') && source.supervisor.status.state === 'running');
    expect(source.living()).not.toContain(first);
    expect([source.starts(), source.releases]).toEqual([2, []]);
  });

  test('[LIFE-2] is called on the call’s own session while the long-lived one is reopened', async () => {
    await using source = supervise('plain', patient);
    await source.supervisor.start();
    process.kill(firstProcess(source.living()), 'SIGKILL');
    await untilSeen(() => source.supervisor.status.state === 'restarting');
    expect(await source.call('echo', { text: 'at once' })).toMatchObject({ content: [{ text: 'at once' }] });
    expect(source.supervisor.status.state).toBe('restarting');
  });

  test('[LIFE-4] ends completely on a stop, and then releases what was made for the whole source', async () => {
    await using source = supervise('plain', { ...contained, standby: 1 });
    await source.supervisor.start();
    await untilSeen(() => source.living().length === 2);
    await source.supervisor.stop('stopped');
    expect([source.living(), source.releases]).toEqual([[], [0]]);
  });
});

test('[LIFE-5] a start that fails for good releases what was made for the source', async () => {
  await using source = supervise('crash-handshake', contained);
  await expect(source.supervisor.start()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(source.releases).toEqual([0]);
});

test('[MCP-10] a server inside a container that is given up keeps nothing, and a manual start works again', async () => {
  await using source = supervise('short-lived', { ...contained, lifecycle_mode: 'singleton' });
  await source.supervisor.start();
  await untilSeen(() => source.supervisor.status.state === 'error');
  await untilSeen(() => source.releases.length === 1);
  expect(source.supervisor.status).toMatchObject({ message: expect.stringMatching(/^Given up after 3 attempts/) });
  expect(source.releases).toEqual([0]);
  await source.supervisor.start();
  await untilSeen(() => source.starts() > 5);
});
