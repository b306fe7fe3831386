import { CribError } from '../../../model/crib-error.ts';
import { EngineUnavailableError } from '../../../model/named-errors.ts';
import { ownerLabel } from './container-labels.ts';
import type { InspectedContainer } from './inspect-container.ts';

const field = 'mcp_container.container';

/** Capabilities with which a container is the machine itself. */
const allPowerful = /^(?:CAP_)?(?:ALL|SYS_ADMIN|SYS_MODULE|SYS_PTRACE|SYS_RAWIO|DAC_READ_SEARCH|BPF)$/i;

/** [SRC-3] Whoever may register a server must not come to rule the machine by it: refuses containers from which that is possible. */
export function refuseDangerous({ name, privileged, sharesProcesses, addedCapabilities, mounted, labels }: InspectedContainer): void {
  const way =
    (privileged && 'it is privileged') ||
    (sharesProcesses && 'it sees the processes of this machine') ||
    (addedCapabilities.some((capability) => allPowerful.test(capability)) && 'it has capabilities that rule this machine') ||
    (mounted.some(isControlSocket) && 'the socket of Docker is mounted into it') ||
    (mounted.some((path) => path === '/') && 'the whole file system of this machine is mounted into it');
  if (way !== false) {
    throw new CribError('VALIDATION_ERROR', `Servers are not started in the container ${name}: ${way}. Use one that has no way out.`, {
      field,
    });
  }
  if (labels[ownerLabel] !== undefined) {
    throw new CribError(
      'VALIDATION_ERROR',
      `Toolcrib made the container ${name} for another source and will remove it. Name the image instead.`,
      {
        field,
      },
    );
  }
}

/** The sockets of Docker, containerd, podman and CRI-O, and the directories they lie in. */
function isControlSocket(path: string): boolean {
  return /(?:docker|containerd|podman|crio)[^/]*\.sock$|^(?:\/var)?\/run(?:\/(?:docker|containerd|podman|crio))?\/?$/.test(path);
}

/** An attached container is somebody else's: it is used while it runs, and never started or stopped. */
export function refuseStopped({ name, running, paused }: InspectedContainer): void {
  if (!running) {
    throw new EngineUnavailableError(`The container ${name} is not running. Start it with \`docker start ${name}\`.`, { field });
  }
  if (paused) {
    throw new EngineUnavailableError(`The container ${name} is paused. Let it go on with \`docker unpause ${name}\`.`, { field });
  }
}

export function missingContainer(name: string): CribError {
  return new EngineUnavailableError(`There is no container ${name}. Start one under this name, or correct it.`, {
    code: 'NOT_FOUND',
    field,
  });
}
