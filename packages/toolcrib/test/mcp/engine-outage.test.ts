import { describe, expect, test } from 'vitest';
import { EngineUnavailableError } from '../../src/model/named-errors.ts';
import { McpSource } from '../../src/sources/mcp/mcp-source.ts';
import { createSupervisor } from '../../src/supervision/supervisor.ts';
import { failureOf } from '../fixtures/mcp/sessions.ts';
import { firstProcess } from '../fixtures/process-table.ts';
import { untilSeen } from '../running-server.ts';
import { createEngine, createOpener, localSource, supervise } from '../supervision/supervise-fixture.ts';

const contained = { container: { image: 'local/any' }, resilience: { restart: { maxAttempts: 2, backoffMs: 1 } } };
const modes = ['transient', 'singleton'];

describe.each(modes)('while the container engine is away, a %s server', (mode) => {
  test('[ERR-2] [MCP-10] is tried for as long as it takes, reports it once, and is back when the engine is', async () => {
    await using source = supervise('plain', { ...contained, lifecycle_mode: mode });
    await source.supervisor.start();
    source.engine.away = true;
    process.kill(firstProcess(source.living()), 'SIGKILL');
    await untilSeen(() => source.engine.tries() > 5);
    expect([source.supervisor.status.state, source.supervisor.health]).toEqual(['restarting', 'degraded']);
    source.engine.away = false;
    await untilSeen(() => source.supervisor.status.state === 'running');
    expect(await source.call('echo', { text: 'back' })).toMatchObject({ content: [{ text: 'back' }] });
    expect(source.notes().filter((note) => /Docker|waited/.test(note))).toEqual([
      'Waiting to be started again: Docker not running. Start it.',
      'Docker, or the container, is available again.',
    ]);
    expect(source.releases).toEqual([]);
  });

  test('[ERR-2] refuses calls at once, even those that joined the restart before', async () => {
    await using source = supervise('plain', { ...contained, lifecycle_mode: mode });
    await source.supervisor.start();
    source.engine.away = true;
    process.kill(firstProcess(source.living()), 'SIGKILL');
    await untilSeen(() => source.supervisor.status.state === 'restarting');
    expect(await failureOf(source.call('echo'))).toBeInstanceOf(EngineUnavailableError);
    await untilSeen(() => source.engine.tries() > 2);
    const failure = await failureOf(source.call('echo'));
    expect(failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: 'Docker not running. Start it.' });
  });

  test('[LIFE-4] can be stopped', async () => {
    await using source = supervise('plain', { ...contained, lifecycle_mode: mode });
    await source.supervisor.start();
    source.engine.away = true;
    process.kill(firstProcess(source.living()), 'SIGKILL');
    await untilSeen(() => source.engine.tries() > 1);
    await source.supervisor.stop('stopped');
    expect([source.supervisor.status.state, source.releases, source.notes().at(-1)]).toEqual([
      'stopped',
      [0],
      'Waiting to be started again: Docker not running. Start it.',
    ]);
  });

  test('[ERR-2] cannot be started, says so, and starts by itself when the engine is back', async () => {
    await using source = supervise('plain', { ...contained, lifecycle_mode: mode });
    source.engine.away = true;
    const error = { code: 'SERVICE_UNAVAILABLE', message: 'Docker not running. Start it.' };
    await expect(source.supervisor.start()).rejects.toMatchObject(error);
    expect(source.supervisor.status).toEqual({ state: 'error', ...error });
    await untilSeen(() => source.engine.tries() > 5);
    // By hand it is told again; the two do not add up.
    await expect(source.supervisor.start()).rejects.toMatchObject(error);
    source.engine.away = false;
    await untilSeen(() => source.supervisor.status.state === 'running');
    expect(source.statuses.map(({ state }) => state)).toEqual(['starting', 'error', 'starting', 'error', 'running']);
    expect(source.notes().at(-1)).toBe('The source is available again.');
    expect(source.living()).toHaveLength(1);
  });
});

test('[ERR-2] a start that waits for the engine ends with a stop, and nothing starts afterwards', async () => {
  await using source = supervise('plain', { ...contained, lifecycle_mode: 'singleton' });
  source.engine.away = true;
  await failureOf(source.supervisor.start());
  await untilSeen(() => source.engine.tries() > 2);
  await source.supervisor.stop('disabled');
  source.engine.away = false;
  const tried = source.engine.tries();
  // Whatever were still waiting would have had its turn before a whole start and stop are over.
  await source.supervisor.start();
  await source.supervisor.stop('stopped');
  expect([source.supervisor.status.state, source.living(), source.starts(), source.engine.tries()]).toEqual(['stopped', [], 1, tried]);
});

test('[ERR-2] a server that fails when the engine is back reports its own failure', async () => {
  await using source = supervise('crash-handshake 3 broken', contained);
  source.engine.away = true;
  await failureOf(source.supervisor.start());
  source.engine.away = false;
  await untilSeen(() => source.releases.length === 3);
  await untilSeen(() => source.supervisor.status.state === 'error');
  expect(source.supervisor.status).toMatchObject({ message: expect.stringContaining('ended with code 3') });
});

test('[ERR-2] sources that exist at the start, or are added, run as soon as the engine is there', async () => {
  const engine = createEngine();
  const opener = createOpener();
  const [found, given] = [localSource('plain', contained), localSource('plain', { ...contained, lifecycle_mode: 'singleton' })];
  const released: string[] = [];
  const supervisor = createSupervisor({
    open({ id }, host) {
      const source = id === found.id ? found : given;
      return new McpSource({
        definition: source.definition,
        host,
        async open(signal) {
          engine.reach();
          return opener.open(source, signal);
        },
        release: async () => void released.push(id),
        sessionKeyOf: async ({ key }) => ({ owner: key, key, revision: '', until: Number.POSITIVE_INFINITY }),
      });
    },
    onDiscovered: async () => undefined,
    countTools: () => 0,
    onStatus: () => undefined,
    note: () => undefined,
    onReleased: () => undefined,
  });
  engine.away = true;
  supervisor.follow(new Map([[found.id, found]]));
  await supervisor.adopt(given);
  await expect(supervisor.start(given.id)).rejects.toThrow('Docker not running');
  await untilSeen(() => supervisor.statusOf(found.id)?.state === 'error');
  engine.away = false;
  await untilSeen(() => [found, given].every(({ id }) => supervisor.statusOf(id)?.state === 'running'));
  await supervisor.shutdownAll();
  expect([opener.living(), released.toSorted()]).toEqual([[], [found.id, given.id].toSorted()]);
  opener[Symbol.dispose]();
});
