import { CribError, type CribErrorOptions } from '../../../model/crib-error.ts';
import { EngineUnavailableError } from '../../../model/named-errors.ts';
import { type ProcessExit, quoting } from './process-exit.ts';

export interface DockerFailure {
  exit: ProcessExit;
  /** All of standard error, in one line. */
  said: string;
  /** The last lines of it, for people. */
  words: readonly string[];
  details: CribErrorOptions['details'];
}

const noDocker =
  /Cannot connect to the Docker daemon|docker daemon is not running|error during connect:|trying to connect to the docker (?:daemon|API)|failed to connect to the docker API|Cannot connect to Podman/i;

const notRunning = 'Docker not running. Install and start Docker, and let this account use it.';

/** The exit code of `docker run` when it could not start the container at all. */
const dockerItself = 125;

/** [ERR-1] [ERR-2] Why a `docker run` failed, where its output says so. */
export function dockerFailure({ exit, said, words, details }: DockerFailure): CribError | undefined {
  const socket = /permission denied while trying to connect to the docker (?:daemon socket|API) at ([a-z]+:\/\/[^\s:]+)/i.exec(said)?.[1];
  if (socket !== undefined) {
    const advice = 'Let this account use it, for instance by adding it to the group docker, and start Toolcrib again.';
    return new EngineUnavailableError(`This account may not use Docker at ${socket}. ${advice}`, { details });
  }
  if (noDocker.test(said)) {
    const { message, ...quoted } = quoting(notRunning, words);
    return new EngineUnavailableError(message, { ...quoted, details });
  }
  if (exit.code === dockerItself && said.includes('Unable to find image') && !said.includes('Downloaded newer image')) {
    const advice = 'There is no such image here, and it could not be pulled. Check its name and tag, or pull it first';
    const { message, ...quoted } = quoting(`Package not found. ${advice}.`, words);
    return new CribError('NOT_FOUND', message, { ...quoted, details });
  }
  if (/exec format error/i.test(said)) {
    const summary = "The image is built for another kind of processor than this machine's. Choose one that is built for it.";
    const { message, ...quoted } = quoting(summary, words);
    return new CribError('SERVICE_UNAVAILABLE', message, { ...quoted, retryable: false, details });
  }
  const program = /\[FATAL tini \(\d+\)\] exec (.+?) failed:|exec: "(.+?)": (?:executable file not found|stat |permission denied)/.exec(
    said,
  );
  if (program !== null && (exit.code === 126 || exit.code === 127)) {
    const problem = exit.code === 126 ? `cannot run ${program[1] ?? program[2]}` : `has no program ${program[1] ?? program[2]}`;
    const summary = `The image ${problem}. Check the arguments after the image in the command, or the image itself.`;
    const { message, ...quoted } = quoting(summary, words);
    return new CribError('NOT_FOUND', message, { ...quoted, field: 'command', details });
  }
  return undefined;
}

/** Where the docker command itself is missing. */
export function dockerMissing(program: string): CribError {
  return new EngineUnavailableError(`${notRunning} the program ${program} was not found`);
}
