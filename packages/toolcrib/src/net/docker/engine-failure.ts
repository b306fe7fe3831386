import { CribError } from '../../model/crib-error.ts';
import { EngineUnavailableError } from '../../model/named-errors.ts';

/** [ERR-2] Why the Docker Engine could not be reached, and what to do. */
export function engineFailure(cause: unknown, address: string): EngineUnavailableError {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') {
    const advice = 'Let this account use it, for instance by adding it to the group docker, and start Toolcrib again.';
    return new EngineUnavailableError(`This account may not use Docker at ${address}. ${advice}`, { cause });
  }
  if (code === 'ENOENT' || code === 'ECONNREFUSED') {
    const advice = `Nothing answers at ${address}. Start Docker, or set DOCKER_HOST to its address.`;
    return new EngineUnavailableError(`Docker not running. ${advice}`, { cause });
  }
  return new EngineUnavailableError(`Docker at ${address} does not answer: ${message}.`, { cause });
}

/** A refusal of the engine. The status tells the reasons apart; the words are for people. */
export class EngineRefusalError extends CribError {
  override name = 'EngineRefusalError';
  readonly words: string;
  constructor(status: number, words: string) {
    super('SERVICE_UNAVAILABLE', `Docker refused: ${words}`, { upstreamStatus: status });
    this.words = words;
  }
}

export function isRefusal(error: unknown, ...statuses: number[]): error is EngineRefusalError {
  return error instanceof EngineRefusalError && statuses.includes(error.upstreamStatus ?? 0);
}
