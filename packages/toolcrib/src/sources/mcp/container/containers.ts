import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Container } from '../../../model/container.ts';
import { CribError } from '../../../model/crib-error.ts';
import { EngineUnavailableError } from '../../../model/named-errors.ts';
import type { SourceRecord } from '../../../model/source.ts';
import type { DockerEngine } from '../../../net/docker/engine.ts';
import { isRefusal } from '../../../net/docker/engine-failure.ts';
import type { ServerLog } from '../../upstream/logs/server-log.ts';
import { checkMounts } from './check-mounts.ts';
import { missingContainer, refuseDangerous, refuseStopped } from './check-attached.ts';
import { ownerLabel, runLabel, sourceLabel } from '../process/container-labels.ts';
import type { ContainerOwner } from './container-owner.ts';
import { createContainer, endedAtOnce, removeContainer } from './create-container.ts';
import { openGuard, type Guard } from './guard.ts';
import type { Images } from './images.ts';
import { inspectContainer } from './inspect-container.ts';

/** A container in which servers can be started, and ended again. */
interface ReadyContainer {
  id: string;
  guard: Guard;
}

/** [SRC-3] The containers of sources: found or made at first use, and made again when they are gone. */
export interface Containers {
  /** The one container of a source, however many ask for it at once. */
  get(source: SourceRecord, container: Container, log?: Pick<ServerLog, 'append'>): Promise<ReadyContainer>;
  /** Refuses a container that must not be used. A missing container or engine is reported when the source is started. */
  check(container: Container): Promise<void>;
  /** Resolves when nothing we made for the source is left, and none of our processes is in a container of somebody else's. */
  release(sourceId: string): Promise<void>;
  /** Removes the containers that an earlier run left behind, and returns their number. */
  reapLeftovers(): Promise<number>;
}

interface Held {
  ready: Promise<ReadyContainer & { made: boolean }>;
  gone: boolean;
}

interface ToMake {
  image: string;
  log: Pick<ServerLog, 'append'>;
}

const listedSchema = z.array(z.object({ Id: z.string(), Labels: z.record(z.string(), z.string()) }));

interface ContainersInput {
  engine: DockerEngine;
  images: Pick<Images, 'ensure'>;
  owner: ContainerOwner;
  /** Directories of the host that may be mounted. */
  allowedMounts: readonly string[];
}

export function createContainers({ engine, images, owner, allowedMounts }: ContainersInput): Containers {
  const held = new Map<string, Held>();
  const run = randomUUID();
  /** Made by us and no longer usable. */
  const abandoned = new Set<string>();
  let reaped = false;

  async function make(source: SourceRecord, container: Container, { image, log }: ToMake): Promise<ReadyContainer & { made: boolean }> {
    await removeAbandoned();
    await checkMounts(engine, container.settings.mounts, allowedMounts);
    // Several callers may wait for the same container, so none of them can end the pull by going away.
    const { signal } = new AbortController();
    await images.ensure({ sourceId: source.id, image, pull: container.settings.pull, log, signal });
    const labels = { [ownerLabel]: owner.id(), [runLabel]: run, [sourceLabel]: source.id };
    const id = await createContainer({ engine, image, container, namespace: source.namespace, labels });
    try {
      return { id, guard: await openGuard({ engine, containerId: id, user: container.user }), made: true };
    } catch (error) {
      await removeContainer(engine, id);
      throw isRefusal(error, 404, 409) ? endedAtOnce(image) : error;
    }
  }

  async function attach(container: Container, name: string): Promise<ReadyContainer & { made: boolean }> {
    const inspected = await inspectContainer(engine, name).catch((error: unknown) => {
      throw isRefusal(error, 404) ? missingContainer(name) : error;
    });
    // Checked each time: another container may have been started under the same name.
    refuseDangerous(inspected);
    refuseStopped(inspected);
    return { id: inspected.id, guard: await openGuard({ engine, containerId: inspected.id, user: container.user }), made: false };
  }

  function open(source: SourceRecord, container: Container, log: ToMake['log']): Held {
    const { name, image } = container;
    const ready =
      name !== null
        ? attach(container, name)
        : image !== null
          ? make(source, container, { image, log })
          : Promise.reject(new CribError('INTERNAL', 'This source has neither container nor image'));
    const entry: Held = { ready, gone: false };
    const forget = () => {
      entry.gone = true;
      if (held.get(source.id) === entry) held.delete(source.id);
    };
    ready.then(async ({ id, guard, made }) => {
      if (!reaped) reapLeftovers().catch(() => undefined);
      await guard.lost;
      forget();
      // Without the guard no process in it can be ended, so the whole container is.
      if (made) abandoned.add(id);
      await removeAbandoned().catch(() => undefined);
    }, forget);
    return entry;
  }

  async function removeAbandoned(): Promise<void> {
    for (const id of abandoned) {
      await removeContainer(engine, id);
      abandoned.delete(id);
    }
  }

  async function reapLeftovers(): Promise<number> {
    const id = owner.known();
    if (id === null) return 0;
    const filters = encodeURIComponent(JSON.stringify({ label: [`${ownerLabel}=${id}`] }));
    const found = await engine.request({ method: 'GET', path: `/containers/json?all=1&filters=${filters}` }, listedSchema);
    const left = found.filter(({ Labels }) => Labels[runLabel] !== run);
    await Promise.all(left.map(({ Id }) => removeContainer(engine, Id)));
    reaped = true;
    return left.length;
  }

  return {
    get(source, container, log = { append: () => undefined }) {
      const known = held.get(source.id);
      if (known !== undefined && !known.gone) return known.ready;
      const opened = open(source, container, log);
      held.set(source.id, opened);
      return opened.ready;
    },
    async check({ name }) {
      if (name === null) return;
      try {
        refuseDangerous(await inspectContainer(engine, name));
      } catch (error) {
        if (!(error instanceof EngineUnavailableError) && !isRefusal(error, 404)) throw error;
      }
    },
    async release(sourceId) {
      const known = held.get(sourceId);
      held.delete(sourceId);
      const ready = await known?.ready.catch(() => undefined);
      if (ready === undefined) return;
      if (ready.made) await removeContainer(engine, ready.id);
      await ready.guard.close();
    },
    reapLeftovers,
  };
}
