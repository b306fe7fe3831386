import { abortable } from '../../resilience/abortable.ts';
import type { McpDefinition } from './mcp-definition.ts';
import type { SourceRecord } from '../../model/source.ts';
import { isRefusal } from '../../net/docker/engine-failure.ts';
import type { DockerEngine } from '../../net/docker/engine.ts';
import type { Containers } from './container/containers.ts';
import type { PrepareRun } from './container/prepare-run.ts';
import { startExecProcess } from './container/exec-process.ts';
import { explainExecFailure } from './container/explain-exec-failure.ts';
import { startLocalProcess } from './process/local-process.ts';
import type { AdmittedLaunch } from './run/run-gate.ts';
import type { ProcessRegistry } from './process/process-registry.ts';
import type { ServerLog } from '../upstream/logs/server-log.ts';
import type { ServerProcess } from './process/server-process.ts';
import { settledWithin } from './process/settled-within.ts';

export interface ServerToLaunch {
  source: SourceRecord;
  definition: McpDefinition;
  /** The command and its limits, as the run gate has admitted them. */
  launch: AdmittedLaunch;
  log: ServerLog;
  registry: ProcessRegistry;
  /** Variables that let the docker command find the engine. */
  dockerEnvironment: Readonly<Record<string, string>>;
  engine: DockerEngine;
  containers: Containers;
  prepareRun: PrepareRun;
  signal: AbortSignal;
  /** Lets the first starts of other servers go first. */
  later: boolean;
}

/** [MCP-2] The one place that knows whether a server runs on this machine or in a container. */
export async function launchServer(server: ServerToLaunch): Promise<ServerProcess> {
  const { source, definition, launch, log, registry, signal, later } = server;
  const { container } = definition;
  if (container !== null) return startInContainer(server, container);
  const { dockerEnvironment } = server;
  const command = await server.prepareRun({ source, command: launch.command, log, signal });
  return startLocalProcess({ sourceId: source.id, ...launch, command, dockerEnvironment, log, registry, later });
}

/** How long it takes at most to notice that a container is gone, once the engine has said so. */
const noticedWithinMs = 2000;

async function startInContainer(server: ServerToLaunch, container: NonNullable<McpDefinition['container']>): Promise<ServerProcess> {
  const { source, launch, log, engine, containers, signal } = server;
  const { command, env } = launch;
  const { user, workdir } = container;
  for (let attempt = 1; ; attempt++) {
    const { id, guard } = await abortable(containers.get(source, container, log), signal);
    try {
      return await startExecProcess({ engine, containerId: id, guard, command, env, user, workdir, log, signal });
    } catch (error) {
      if (!isRefusal(error, 400, 404, 409, 500)) throw error;
      // The container has just gone or stopped. As soon as that is noticed, a new one is made.
      if (attempt > 1 || !isRefusal(error, 404, 409)) throw explainExecFailure(error.words);
      await settledWithin(guard.lost, noticedWithinMs);
    }
  }
}
