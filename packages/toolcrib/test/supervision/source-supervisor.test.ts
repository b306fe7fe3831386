import { describe, expect, test } from 'vitest';
import { CribError } from '../../src/model/crib-error.ts';
import { EndSwitch } from '../../src/model/end-signal.ts';
import { firstProcess } from '../fixtures/process-table.ts';
import { untilSeen } from '../running-server.ts';
import { failureOf } from '../fixtures/mcp/sessions.ts';
import { said } from '../fixtures/mcp/start-fixture.ts';
import { localSource, supervise } from './supervise-fixture.ts';

const singleton = { lifecycle_mode: 'singleton' };
const restart = { maxAttempts: 3, backoffMs: 1 };
/** Asks after every few milliseconds of silence. */
const attentive = { heartbeatIntervalMs: 20, requestTimeoutMs: 100, restart };

describe('a server that freezes', () => {
  test('[LIFE-1] [MCP-10] is unhealthy while it is silent and healthy when it answers again, and is not restarted', async () => {
    await using source = supervise('plain', { ...singleton, resilience: attentive });
    await source.supervisor.start();
    const pid = firstProcess(source.living());
    process.kill(pid, 'SIGSTOP');
    await untilSeen(() => source.supervisor.health === 'unhealthy');
    process.kill(pid, 'SIGCONT');
    await untilSeen(() => source.supervisor.health === 'healthy');
    expect([source.supervisor.status.state, source.starts()]).toEqual(['running', 1]);
  });

  test('[MCP-10] [LIFE-5] is ended and restarted once it has been silent for longer than allowed', async () => {
    await using source = supervise('plain', { ...singleton, resilience: { ...attentive, staleTimeoutMs: 2000 } });
    await source.supervisor.start();
    const frozen = firstProcess(source.living());
    process.kill(frozen, 'SIGSTOP');
    await untilSeen(() => source.supervisor.status.state === 'restarting');
    // A call joins the restart.
    expect(await source.call('echo', { text: 'thawed' })).toMatchObject({ content: [{ text: 'thawed' }] });
    expect(source.starts()).toBe(2);
    expect(source.living()).not.toContain(frozen);
  });

  test('[MCP-10] may take the whole time of the calls it had begun; later ones fail with the reason, and keep nothing alive', async () => {
    await using source = supervise('plain', { ...singleton, resilience: { ...attentive, staleTimeoutMs: 200 } });
    await source.supervisor.start();
    const deadline = new EndSwitch();
    const begun = failureOf(source.call('hold', { key: 1 }, { signal: deadline }));
    process.kill(firstProcess(source.living()), 'SIGSTOP');
    const frozenAt = performance.now();
    await untilSeen(() => performance.now() - frozenAt > 600 && source.supervisor.health === 'unhealthy');
    expect([source.supervisor.status.state, source.starts()]).toEqual(['running', 1]);
    const late = failureOf(source.call('hold', { key: 2 }));
    deadline.end(new CribError('NETWORK_ERROR', 'The call timed out'));
    expect(await begun).toMatchObject({ message: 'The call timed out' });
    expect(await late).toMatchObject({
      code: 'NETWORK_ERROR',
      message: expect.stringMatching(/^The server has not answered for \d+ seconds/),
    });
    expect(await source.call('echo', { text: 'thawed' })).toMatchObject({ content: [{ text: 'thawed' }] });
    expect(source.starts()).toBe(2);
  });

  test('[MCP-10] has a minute and a half by default', () => {
    expect(localSource('plain').definition.resilience.staleTimeoutMs).toBe(90_000);
  });
});

describe('a server that dies', () => {
  test('[MCP-10] during a heartbeat is restarted once, not once for each who noticed', async () => {
    await using source = supervise('plain', { ...singleton, resilience: { ...attentive, requestTimeoutMs: 60_000 } });
    await source.supervisor.start();
    const pid = firstProcess(source.living());
    process.kill(pid, 'SIGSTOP');
    const asked = performance.now();
    await untilSeen(() => performance.now() - asked > 100);
    process.kill(pid, 'SIGKILL');
    await untilSeen(() => source.supervisor.status.state === 'restarting');
    expect(await source.call('echo', { text: 'back' })).toMatchObject({ content: [{ text: 'back' }] });
    await source.supervisor.refresh();
    expect([source.starts(), source.living().length]).toEqual([2, 1]);
  });

  test('[MCP-10] as soon as it is ready, again and again, is given up', async () => {
    await using source = supervise('short-lived', { ...singleton, resilience: { restart } });
    await source.supervisor.start();
    await untilSeen(() => source.supervisor.status.state === 'error');
    expect(source.supervisor.status).toMatchObject({ message: expect.stringMatching(/^Given up after 3 attempts/) });
    expect([source.starts(), source.living()]).toEqual([4, []]);
    // A start by hand works again.
    await source.supervisor.start();
    await untilSeen(() => source.starts() > 5);
  });

  test('[MCP-10] but works in between is not given up', async () => {
    await using source = supervise('plain', { ...singleton, resilience: { restart } });
    await source.supervisor.start();
    for (let time = 0; time < 5; time++) {
      await expect(source.call('crash')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(await source.call('echo', { text: 'on' })).toMatchObject({ content: [{ text: 'on' }] });
    }
    expect(source.supervisor.status.state).toBe('running');
  });
});

describe('a stop', () => {
  test('[LIFE-4] during a start ends the start, and nothing is left', async () => {
    await using source = supervise('hang-handshake', singleton);
    const starting = failureOf(source.supervisor.start());
    await untilSeen(() => source.living().length === 1);
    await source.supervisor.stop('stopped');
    expect(source.living()).toEqual([]);
    expect(await starting).toMatchObject({ code: 'CONFLICT' });
    expect(source.statuses.map(({ state }) => state)).toEqual(['starting', 'stopped']);
  });

  test('[MC-T9] and a start at once happen one after the other, in the order of the requests', async () => {
    await using source = supervise('plain', singleton);
    await source.supervisor.start();
    await Promise.all([source.supervisor.stop('stopped'), source.supervisor.start()]);
    expect([source.supervisor.status.state, source.living().length]).toEqual(['running', 1]);
    const stopped = source.supervisor.stop('stopped');
    const started = failureOf(source.supervisor.start());
    await source.supervisor.stop('disabled');
    await stopped;
    expect(await started).toMatchObject({ code: 'CONFLICT' });
    expect([source.supervisor.status.state, source.living()]).toEqual(['disabled', []]);
  });

  test.each(['transient', 'singleton'])('[MCP-5] [LIFE-4] ends the calls under way on a %s server, and their processes', async (mode) => {
    await using source = supervise('plain', { lifecycle_mode: mode });
    await source.supervisor.start();
    const begun = Promise.withResolvers<void>();
    const call = failureOf(source.call('begin', {}, { progress: () => begun.resolve() }));
    await begun.promise;
    await source.supervisor.stop('stopped');
    expect(source.living()).toEqual([]);
    expect(await call).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: 'The source is being stopped' });
    expect(source.supervisor.health).toBe('healthy');
    await expect(source.call('echo')).rejects.toMatchObject({ message: 'The source is not running' });
    await expect(source.supervisor.refresh()).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(source.living()).toEqual([]);
  });

  test('[LIFE-4] ends even a server that keeps talking after its input has closed', async () => {
    await using source = supervise('talks-on', singleton);
    await source.supervisor.start();
    await source.supervisor.stop('stopped');
    expect(source.living()).toEqual([]);
  });
});

test('[MCP-6] [LIFE-4] standbys that die are dropped, and a stop leaves none', async () => {
  await using source = supervise('plain', { standby: 2 });
  await source.supervisor.start();
  // The one that was asked for the tools has gone, and both standbys are there.
  await untilSeen(() => source.starts() === 3 && source.living().length === 2);
  process.kill(firstProcess(source.living()), 'SIGKILL');
  await said(source.log, 'was ended by SIGKILL');
  await untilSeen(() => source.supervisor.sessions?.standby === 1);
  expect(source.living()).toHaveLength(1);
  expect(await source.call('echo', { text: 'ready' })).toMatchObject({ content: [{ text: 'ready' }] });
  await source.supervisor.stop('stopped');
  expect(source.living()).toEqual([]);
});
