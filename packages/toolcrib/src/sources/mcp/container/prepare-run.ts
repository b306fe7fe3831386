import type { SourceRecord } from '../../../model/source.ts';
import { EngineUnavailableError } from '../../../model/named-errors.ts';
import type { ServerLog } from '../../upstream/logs/server-log.ts';
import { readDockerRun } from '../registration/docker-run.ts';
import { programName } from '../registration/program-name.ts';
import type { Images } from './images.ts';

interface RunToPrepare {
  source: Pick<SourceRecord, 'id' | 'updated_at'>;
  command: readonly string[];
  log: ServerLog;
  signal: AbortSignal;
}

/** [SRC-2] Fetches the image of a `docker run` before it is started, and returns the command to start. */
export interface PrepareRun {
  (run: RunToPrepare): Promise<readonly string[]>;
  /** The source is being stopped: its next start looks for the image again. */
  forget(sourceId: string): void;
}

/**
 * docker would fetch it too, but within the start-up timeout and without showing progress. The image is looked for once per start of a
 * source, not for every process: should it vanish meanwhile, docker fetches it after all.
 */
export function createPrepareRun(images: Pick<Images, 'ensure'>): PrepareRun {
  const seen = new Map<string, number>();
  async function prepare({ source, command, log, signal }: RunToPrepare): Promise<readonly string[]> {
    // podman and others keep images of their own.
    if (programName(command[0] ?? '') !== 'docker') return command;
    const { image, given } = readDockerRun(command, { field: 'command', allowedMounts: 'any' });
    const pull = given.get('--pull') as 'missing' | 'always' | 'never' | undefined;
    if (seen.get(source.id) !== source.updated_at) {
      await images.ensure({ sourceId: source.id, image, pull: pull ?? 'missing', log, signal }).catch((error: unknown) => {
        // The docker command may find an engine where we find none; where it does not, its own message says so.
        if (!(error instanceof EngineUnavailableError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
      });
      seen.set(source.id, source.updated_at);
    }
    return pull === 'always' ? withoutPull(command) : command;
  }
  return Object.assign(prepare, { forget: (sourceId: string) => void seen.delete(sourceId) });
}

/** The image has just been pulled. Only the first `--pull` is docker's: arguments after the image are the server's. */
function withoutPull(command: readonly string[]): string[] {
  const at = command.findIndex((part) => part === '--pull' || part === '--pull=always');
  return command.toSpliced(at, command[at] === '--pull' ? 2 : 1);
}
