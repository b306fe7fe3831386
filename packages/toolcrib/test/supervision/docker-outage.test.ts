import { describe, expect, test } from 'vitest';
import { openCrib, type Crib } from '../../src/crib.ts';
import { EndSwitch } from '../../src/model/end-signal.ts';
import { EngineUnavailableError } from '../../src/model/named-errors.ts';
import type { Tool } from '../../src/model/tool.ts';
import { sourceLabel } from '../../src/sources/mcp/container/container-labels.ts';
import type { CallContext } from '../../src/sources/source.ts';
import { inImage } from '../fixtures/docker-engine.ts';
import { failureOf } from '../fixtures/mcp/sessions.ts';
import { PrivateDaemon } from '../fixtures/private-daemon.ts';
import { part } from '../parts.ts';
import { temporaryDirectory, untilSeen } from '../running-server.ts';
import { localSource } from './supervise-fixture.ts';

const docker = part('docker');
const dockerd = part('dockerd');
const longMs = 120_000;

const containers = (daemon: PrivateDaemon) => daemon.containersWithLabel(sourceLabel);

async function openCribOn(daemon: PrivateDaemon, dataDir: string): Promise<Crib> {
  return openCrib({
    dataDir,
    dockerHost: daemon.host ?? '',
    limits: { principal: {}, defaultTimeoutMs: longMs, maxTimeoutMs: longMs },
    responseBytes: 1_048_576,
    artifacts: { bytesPerPrincipal: 0, days: 1 },
    retentionDays: 90,
    warn: () => undefined,
  });
}

function echo(crib: Crib, sourceId: string) {
  const tool = { definition: { name: 'echo', annotations: null } } as unknown as Tool;
  const context = { signal: new AbortController().signal, ending: new EndSwitch(), progress: () => undefined, log: () => undefined };
  return crib.supervisor.sourceOf(sourceId)?.call(tool, { text: 'here' }, context as unknown as CallContext);
}

describe.skipIf(!docker.available || !dockerd.available)('a real Docker daemon', () => {
  const image = docker.available ? docker.url : '';

  test('[ERR-2] [MCP-10] that goes away and comes back takes its servers with it and brings them back', { timeout: 300_000 }, async () => {
    await using daemon = await PrivateDaemon.start(image);
    await using directory = await temporaryDirectory();
    const crib = await openCribOn(daemon, directory.path);
    try {
      const sources = ['transient', 'singleton'].map((mode) =>
        localSource(mode, { command: inImage.fixture('plain'), lifecycle_mode: mode, container: { image } }),
      );
      const allAre = (state: string) => sources.every(({ id }) => crib.supervisor.statusOf(id)?.state === state);
      for (const source of sources) {
        await crib.store.sources.upsert(source);
        await crib.supervisor.adopt(source);
        await crib.supervisor.start(source.id);
        expect(await echo(crib, source.id)).toMatchObject({ content: [{ text: 'here' }] });
      }
      for (const leave of [() => daemon.stop(), () => daemon.kill()]) {
        await leave();
        await untilSeen(() => allAre('restarting'), longMs);
        for (const { id } of sources) expect(await failureOf(Promise.resolve(echo(crib, id)))).toBeInstanceOf(EngineUnavailableError);
        await daemon.start();
        await untilSeen(() => allAre('running'), longMs);
        for (const { id } of sources) expect(await echo(crib, id)).toMatchObject({ content: [{ text: 'here' }] });
        expect(await containers(daemon)).toHaveLength(2);
      }
      await Promise.all(sources.map(({ id }) => crib.supervisor.stop(id)));
      expect(await containers(daemon)).toEqual([]);
      await daemon.stop();
      await Promise.all(sources.map(({ id }) => expect(crib.supervisor.start(id)).rejects.toThrow('Docker not running')));
      expect(allAre('error')).toBe(true);
      await daemon.start();
      await untilSeen(() => allAre('running'), longMs);
    } finally {
      await crib.close({ drainMs: 0 });
    }
    expect(await containers(daemon)).toEqual([]);
  });
});
