import type { CribConfig } from './crib-config.ts';
import { createDockerEngine } from './net/docker/engine.ts';
import { registryAuth } from './net/docker/registry-auth.ts';
import { createContainerOwner } from './sources/mcp/container/container-owner.ts';
import { createContainers } from './sources/mcp/container/containers.ts';
import { createImages } from './sources/mcp/container/images.ts';
import { createPrepareRun } from './sources/mcp/container/prepare-run.ts';
import { dockerEnvironment } from './sources/mcp/process/docker-environment.ts';
import { createProcessRegistry } from './sources/mcp/process/process-registry.ts';
import { createResourceWatch } from './sources/mcp/process/resource-watch.ts';
import { openRunAccount } from './sources/mcp/process/run-account.ts';
import { createRunGate } from './sources/mcp/run/run-gate.ts';

/** [SEC-2] What servers on this machine are run with, and what may run at all. What an earlier run left behind is cleared away first. */
export async function openLocalRunning(config: CribConfig, opened: AsyncDisposableStack) {
  const { dataDir, allowedMounts = [], runRules, separateUser = false, warn } = config;
  const dockerHost = config.dockerHost ?? process.env['DOCKER_HOST'];
  const docker = dockerEnvironment(dockerHost, process.env);
  const registry = createProcessRegistry({ dataDir, dockerEnvironment: docker });
  const reaped = await registry.reapOrphans();
  if (reaped > 0) warn(`${reaped} server processes that an earlier Toolcrib left behind were ended`);
  const engine = opened.adopt(createDockerEngine(dockerHost, process.env), (connected) => connected.close());
  const images = createImages({ engine, authOf: (image) => registryAuth(image, process.env) });
  const containers = createContainers({ engine, images, owner: createContainerOwner({ dataDir }), allowedMounts });
  // Docker may be away, and nobody should wait for it who does not need it.
  containers.reapLeftovers().then(
    (count) => count > 0 && warn(`${count} containers that an earlier Toolcrib left behind were removed`),
    () => undefined,
  );
  const { user, same_user: sameUser } = typeof runRules === 'object' ? runRules : { user: undefined, same_user: false };
  if (separateUser && sameUser) warn("same_user in the run rules: local servers run as the gateway's own user, and can read its keys");
  const gate = createRunGate({
    rules: runRules,
    allowedMounts,
    account: user === undefined ? null : openRunAccount(user, dataDir),
    sameUser: sameUser || !separateUser,
    watch: createResourceWatch(),
    path: process.env['PATH'],
  });
  return { registry, gate, dockerEnvironment: docker, engine, containers, images, prepareRun: createPrepareRun(images) };
}
