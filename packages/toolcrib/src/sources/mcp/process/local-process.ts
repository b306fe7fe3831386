import { randomBytes } from 'node:crypto';
import { sourceLabel } from './container-labels.ts';
import { isContainerRunner, programName } from '../registration/program-name.ts';
import { startServerProcess, type ServerProcess, type ServerProcessOptions } from './server-process.ts';

export interface LocalProcessOptions extends Omit<ServerProcessOptions, 'container' | 'patience'> {
  sourceId: string;
  /** Variables that tell the docker command where its engine is. No other server gets them. */
  dockerEnvironment: Readonly<Record<string, string>>;
}

/** A container takes longer to end than a process, and must be removed; together that is still less than 6 seconds. */
const patience = { politeMs: 1500, termMs: 3000 };

/** Starts a server on this machine. A `docker run` gets a name of ours, so that we can remove its container. */
export function startLocalProcess({ sourceId, dockerEnvironment, ...options }: LocalProcessOptions): Promise<ServerProcess> {
  const run = namedRun(options.command, sourceId);
  if (run === undefined) return startServerProcess(options);
  return startServerProcess({ ...options, ...run, env: { ...options.env, ...dockerEnvironment }, patience });
}

/** A `docker run` with a name and a label of ours; undefined for any other command. */
export function namedRun(command: readonly string[], sourceId: string): Pick<ServerProcessOptions, 'command' | 'container'> | undefined {
  const runAt = dockerRunAt(command);
  if (runAt === undefined) return undefined;
  const name = `toolcrib-run-${randomBytes(10).toString('hex')}`;
  const ours = ['--name', name, '--label', `${sourceLabel}=${sourceId}`];
  return {
    command: [...command.slice(0, runAt + 1), ...ours, ...command.slice(runAt + 1)],
    container: { program: command[0] ?? '', name },
  };
}

/** The position of the word `run`. */
function dockerRunAt([program = '', ...args]: readonly string[]): number | undefined {
  if (!isContainerRunner(programName(program))) return undefined;
  if (args[0] === 'run') return 1;
  return args[0] === 'container' && args[1] === 'run' ? 2 : undefined;
}
