import { CribError, type CribErrorOptions } from '../../../model/crib-error.ts';
import { EngineUnavailableError } from '../../../model/named-errors.ts';
import type { ProcessExit } from './process-exit.ts';

export interface DockerFailure {
  exit: ProcessExit;
  /** All that was written to standard error, in one line. */
  said: string;
  /** The same for people. */
  quoted: string;
  details: CribErrorOptions['details'];
}

const noDocker =
  /Cannot connect to the Docker daemon|docker daemon is not running|error during connect:|trying to connect to the docker (?:daemon|API)|failed to connect to the docker API|Cannot connect to Podman/i;

/** With what `docker run` ends when it could not start the container at all. */
const dockerItself = 125;

/** [ERR-1] [ERR-2] Why a `docker run` came to nothing, where its words say it. */
export function dockerFailure({ exit, said, quoted, details }: DockerFailure): CribError | undefined {
  const socket = /permission denied while trying to connect to the docker (?:daemon socket|API) at ([a-z]+:\/\/[^\s:]+)/i.exec(said)?.[1];
  if (socket !== undefined) {
    const advice = 'Let this account use it, for instance by adding it to the group docker, and start Toolcrib again.';
    return new EngineUnavailableError(`This account may not use Docker at ${socket}. ${advice}`, { details });
  }
  if (noDocker.test(said)) return dockerNotRunning(quoted, details);
  if (exit.code === dockerItself && said.includes('Unable to find image') && !said.includes('Downloaded newer image')) {
    const advice = 'There is no such image here, and it could not be pulled. Check its name and tag, or pull it first';
    return new CribError('NOT_FOUND', `Package not found. ${advice}. ${quoted}`, { details });
  }
  if (/exec format error/i.test(said)) {
    const advice = "The image is made for another kind of processor than this machine's. Choose one that is made for it";
    return new CribError('SERVICE_UNAVAILABLE', `${advice}. ${quoted}`, { retryable: false, details });
  }
  const program = /\[FATAL tini \(\d+\)\] exec (.+?) failed:|exec: "(.+?)": (?:executable file not found|stat |permission denied)/.exec(
    said,
  );
  if (program !== null && (exit.code === 126 || exit.code === 127)) {
    const problem = exit.code === 126 ? `cannot run ${program[1] ?? program[2]}` : `has no program ${program[1] ?? program[2]}`;
    const message = `The image ${problem}. Check what stands behind the image in the command, or the image itself. ${quoted}`;
    return new CribError('NOT_FOUND', message, { field: 'command', details });
  }
  return undefined;
}

export function dockerNotRunning(reason: string, details: CribErrorOptions['details']): CribError {
  return new EngineUnavailableError(`Docker not running. Install and start Docker, and let this account use it. ${reason}`, { details });
}
