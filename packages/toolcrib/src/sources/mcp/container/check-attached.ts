import { CribError } from '../../../model/crib-error.ts';
import { EngineUnavailableError } from '../../../model/named-errors.ts';
import { ownerLabel } from '../process/container-labels.ts';
import type { InspectedContainer } from './inspect-container.ts';

const field = 'mcp_container.container';

/** Capabilities that give a container control of the machine. */
const allPowerful = /^(?:CAP_)?(?:ALL|SYS_ADMIN|SYS_MODULE|SYS_PTRACE|SYS_RAWIO|DAC_READ_SEARCH|BPF)$/i;

/** [SRC-3] Permission to register a server is not permission to control the machine: refuses containers that would allow it. */
export function refuseDangerous({ name, privileged, sharesProcesses, addedCapabilities, mounted, labels }: InspectedContainer): void {
  const way =
    (privileged && 'it is privileged') ||
    (sharesProcesses && 'it sees the processes of this machine') ||
    (addedCapabilities.some((capability) => allPowerful.test(capability)) && 'it has capabilities that rule this machine') ||
    (mounted.some(isControlSocket) && 'the socket of Docker is mounted into it') ||
    (mounted.some((path) => path === '/') && 'the whole file system of this machine is mounted into it');
  if (way !== false) {
    throw new CribError(
      'VALIDATION_ERROR',
      `Servers are not started in the container ${name}: ${way}. Use a container that cannot control the machine.`,
      {
        field,
      },
    );
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

/** The sockets of Docker, containerd, podman and CRI-O, and their directories. */
function isControlSocket(path: string): boolean {
  return /(?:docker|containerd|podman|crio)[^/]*\.sock$|^(?:\/var)?\/run(?:\/(?:docker|containerd|podman|crio))?\/?$/.test(path);
}

/** An attached container is somebody else's: it is used while it runs, and never started or stopped. */
export function refuseStopped({ name, running, paused }: InspectedContainer): void {
  if (!running) {
    throw new EngineUnavailableError(`The container ${name} is not running. Start it with \`docker start ${name}\`.`, { field });
  }
  if (paused) {
    throw new EngineUnavailableError(`The container ${name} is paused. Resume it with \`docker unpause ${name}\`.`, { field });
  }
}

export function missingContainer(name: string): CribError {
  return new EngineUnavailableError(`There is no container ${name}. Start one with this name, or correct the name.`, {
    code: 'NOT_FOUND',
    field,
  });
}
