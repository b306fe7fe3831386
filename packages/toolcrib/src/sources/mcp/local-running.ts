import { createDockerEngine } from '../../net/docker/engine.ts';
import { registryAuth } from '../../net/docker/registry-auth.ts';
import type { SourceSettings } from '../source-ports.ts';
import { createContainerOwner } from './container/container-owner.ts';
import { createContainers } from './container/containers.ts';
import { createImages } from './container/images.ts';
import { createPrepareRun } from './container/prepare-run.ts';
import { dockerEnvironment } from './process/docker-environment.ts';
import { createProcessRegistry } from './process/process-registry.ts';
import { createResourceWatch } from './process/resource-watch.ts';
import { openRunAccount } from './process/run-account.ts';
import { createRunGate } from './run/run-gate.ts';

/** [SEC-2] Everything that local servers and containers run with, and the gate that decides what may run. Clears away leftovers first. */
export async function openLocalRunning(settings: SourceSettings, opened: AsyncDisposableStack) {
  const { dataDir, allowedMounts = [], runRules, separateUser = false, warn } = settings;
  const dockerHost = settings.dockerHost ?? process.env['DOCKER_HOST'];
  const docker = dockerEnvironment(dockerHost, process.env);
  const registry = createProcessRegistry({ dataDir, dockerEnvironment: docker });
  const reaped = await registry.reapOrphans();
  if (reaped > 0) warn(`${reaped} server processes that an earlier Toolcrib left behind were ended`);
  const engine = opened.adopt(createDockerEngine(dockerHost, process.env), (connected) => connected.close());
  const images = createImages({ engine, authOf: (image) => registryAuth(image, process.env) });
  const containers = createContainers({ engine, images, owner: createContainerOwner({ dataDir }), allowedMounts });
  // Not awaited: Docker may be away, and the server can start without it.
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
