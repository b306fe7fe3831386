import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Container, ContainerSettings } from '../../../model/container.ts';
import { CribError } from '../../../model/crib-error.ts';
import { EngineUnavailableError } from '../../../model/named-errors.ts';
import type { DockerEngine } from '../../../net/docker/engine.ts';
import { isRefusal } from '../../../net/docker/engine-failure.ts';
import { explainExecFailure, missingShell } from './explain-exec-failure.ts';

export interface ContainerToCreate {
  engine: DockerEngine;
  image: string;
  container: Container;
  /** Begins the container's name, for people who list containers. */
  namespace: string;
  labels: Readonly<Record<string, string>>;
}

const createdSchema = z.object({ Id: z.string() });
const mebibyte = 1_048_576;

/** [SRC-3] Makes and starts a container that only sleeps. Returns its id. */
export async function createContainer({ engine, image, container, namespace, labels }: ContainerToCreate): Promise<string> {
  const name = `toolcrib-${namespace}-${randomBytes(6).toString('hex')}`;
  const body = {
    Image: image,
    // Servers are started in it by exec, when they are needed, and get their secrets there: the container's own environment has none.
    Entrypoint: ['/bin/sh', '-c', 'while sleep 3600; do :; done'],
    Cmd: [],
    Labels: labels,
    ...(container.user === null ? {} : { User: container.user }),
    HostConfig: hostConfig(container.settings),
  };
  const path = `/containers/create?name=${encodeURIComponent(name)}`;
  const { Id: id } = await engine.request({ method: 'POST', path, body }, createdSchema).catch((error: unknown) => {
    throw isRefusal(error, 404) && /image/i.test(error.words) ? missingImage(image) : error;
  });
  try {
    await requireShell(engine, id);
    await engine.request({ method: 'POST', path: `/containers/${id}/start` }, z.unknown());
    return id;
  } catch (error) {
    await removeContainer(engine, id);
    throw isRefusal(error, 400, 404, 500) ? startFailure(error.words) : error;
  }
}

function hostConfig({ limits, network, read_only, tmpfs, mounts }: ContainerSettings): object {
  return {
    Memory: limits.memory_mb * mebibyte,
    // Equal to the memory: no swap.
    MemorySwap: limits.memory_mb * mebibyte,
    NanoCpus: Math.round(limits.cpus * 1e9),
    PidsLimit: limits.pids,
    NetworkMode: network,
    ReadonlyRootfs: read_only,
    Tmpfs: Object.fromEntries(tmpfs.map((path) => [path, 'rw,nosuid,nodev,mode=1777'])),
    Mounts: mounts.map(({ source, target, read_only: readOnly }) => ({
      Type: source.startsWith('/') || /^[a-z]:[\\/]/i.test(source) ? 'bind' : 'volume',
      Source: source,
      Target: target,
      ReadOnly: readOnly,
    })),
    SecurityOpt: ['no-new-privileges'],
    CapDrop: ['ALL'],
    // An init process reaps children and forwards signals.
    Init: true,
    // Removed when it stops, whoever stops it.
    AutoRemove: true,
  };
}

/** Resolves when there is no such container any more. */
export async function removeContainer(engine: DockerEngine, id: string): Promise<void> {
  try {
    await engine.request({ method: 'DELETE', path: `/containers/${encodeURIComponent(id)}?force=1&v=1` }, z.unknown());
  } catch (error) {
    // 404: it is gone. 409: it is being removed already.
    if (!isRefusal(error, 404, 409)) throw error;
  }
}

/** Checked before the start: without a command the init process ends and does not say why. */
async function requireShell(engine: DockerEngine, id: string): Promise<void> {
  try {
    await engine.request({ method: 'HEAD', path: `/containers/${id}/archive?path=${encodeURIComponent('/bin/sh')}` }, z.unknown());
  } catch (error) {
    throw isRefusal(error, 404) ? missingShell() : error;
  }
}

/** Somebody stopped it, or the image has no `sleep`. */
export function endedAtOnce(image: string): CribError {
  return new CribError(
    'SERVICE_UNAVAILABLE',
    `The container made from ${image} ended at once. If that happens again, check that the image has the program sleep.`,
  );
}

function missingImage(image: string): CribError {
  return new EngineUnavailableError(`The image ${image} is not here. Fetch it with \`docker pull ${image}\`, or correct its name.`, {
    code: 'NOT_FOUND',
    field: 'mcp_container.image',
  });
}

function startFailure(words: string): CribError {
  if (/network .* not found/i.test(words)) {
    return new CribError('NOT_FOUND', `${words}. Make it with \`docker network create\`, or correct the name.`, {
      field: 'mcp_container.network',
    });
  }
  if (/bind source path does not exist|invalid mount config/i.test(words)) {
    return new CribError('NOT_FOUND', `The container cannot be started: ${words}`, { field: 'mcp_container.mounts' });
  }
  return explainExecFailure(words);
}
