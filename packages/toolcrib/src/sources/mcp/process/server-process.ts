import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { CribError } from '../../../model/crib-error.ts';
import { boundedCommand } from './bounded-command.ts';
import { containedExit, describeExit, isKilled, type ProcessExit } from './process-exit.ts';
import { endProcessGroup, processGroup } from './process-group.ts';
import type { ProcessBounds } from './process-bounds.ts';
import type { ProcessRegistry } from './process-registry.ts';
import { isMissing } from './is-missing.ts';
import { removeRunContainer, type RunContainer } from './remove-run-container.ts';
import type { ServerLog } from './server-log.ts';
import { spawnTurn } from './spawn-turns.ts';
import { settledWithin } from './settled-within.ts';
import { spawnFailure } from './spawn-failure.ts';

/** One server that runs on this machine, and whatever it starts. */
export interface ServerProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The source's log, where standard error goes. */
  readonly log: ServerLog;
  /** When the process has ended, by itself or not, and what it last said has been read. */
  readonly exited: Promise<ProcessExit>;
  /** After the end of its output, where it takes more than a moment to find out how it ended. */
  readonly exitKnownWithinMs?: number;
  /** The last lines of standard error of this process. */
  lastWords(count: number): string[];
  /** [LIFE-4] Resolves when nothing of it is left. */
  stop(): Promise<void>;
}

export interface ServerProcessOptions {
  /** The program, looked for in the `PATH` of `env`, and its arguments. */
  command: readonly string[];
  /** Null: our own working directory. */
  cwd: string | null;
  /** [ENV-3] The whole environment: nothing of ours is added. */
  env: Readonly<Record<string, string>>;
  log: ServerLog;
  registry: ProcessRegistry;
  /** The container that the command makes, which is removed when the command has ended, however that was. */
  container?: RunContainer;
  patience?: Patience;
  /** Unbounded, and as ourselves, where it is left out. */
  bounds?: ProcessBounds;
  /** Lets the first starts of others go before this one. */
  later?: boolean;
}

interface Patience {
  /** Between the end of its input and SIGTERM. */
  politeMs: number;
  /** Between SIGTERM and SIGKILL. */
  termMs: number;
}

/** Together less than the 6 seconds after which nothing is left. */
const usualPatience: Patience = { politeMs: 500, termMs: 5000 };
/** A child of the dead process may hold its output open; what has not been read by then is not waited for. */
const lastWordsMs = 250;

export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const { command, env, log, registry, container, patience = usualPatience, later = false } = options;
  await spawnTurn({ later });
  const child = await spawnGroup(options);
  const pid = child.pid as number;
  const name = `Process ${pid} (${basename(command[0] ?? '')})`;
  log.append('event', `${name} started.`);

  const words = log.writer('stderr');
  readFairly(child.stderr, (bytes) => words.write(bytes));
  // Its pipes may break when the process dies. That it died is told elsewhere; unheard, an error would end the gateway.
  for (const source of [child, child.stdin, child.stdout, child.stderr]) source.on('error', () => undefined);

  let excess: string | undefined;
  const boundedExit = (exit: ProcessExit): ProcessExit => {
    const reason = excess ?? (exit.signal === 'SIGXCPU' ? 'it had used up its processor time (cpu_seconds)' : undefined);
    return reason === undefined ? exit : { ...exit, reason: `was ended, because ${reason}` };
  };
  const unwatch = options.bounds?.watch.add(pid, options.bounds.limits, (reason) => {
    excess = reason;
    processGroup(pid).signal('SIGKILL');
  });

  // Listened for from the beginning, because the two may come in one breath.
  const gone = new Promise<ProcessExit>((resolve) =>
    child.once('exit', (code, signal) =>
      resolve(container === undefined ? boundedExit({ code, signal }) : containedExit({ code, signal })),
    ),
  );
  const closed = new Promise((resolve) => child.once('close', resolve));
  const exited = gone.then(async (exit) => {
    await settledWithin(closed, lastWordsMs);
    // Where we were held up for longer than that, what it wrote is there and has not been read yet.
    await new Promise((resolve) => setImmediate(resolve));
    words.end();
    log.append('event', `${name} ${describeExit(exit)}.`);
    return exit;
  });

  async function end(): Promise<void> {
    const group = processGroup(pid);
    child.stdin.end();
    await settledWithin(gone, patience.politeMs);
    const ended = !group.isAlive() || (await endProcessGroup(group, patience.termMs));
    // Where something stays its record does too, and the next start tries again.
    if (!ended) log.append('event', `${name} could not be ended: the kernel does not let go of it.`);
    else {
      const exit = await exited;
      if (container === undefined || (await removeRunContainer(container, env, isKilled(exit))) !== 'failed') registry.remove(pid);
      else log.append('event', `The container ${container.name} could not be removed: Docker does not answer, or does not let go of it.`);
    }
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy();
  }

  let ending: Promise<void> | undefined;
  const stop = () => (ending ??= end());
  // What a process has started does not outlive it, however it ended.
  void gone.then(unwatch);
  void gone.then(stop);
  return { pid, stdin: child.stdin, stdout: child.stdout, log, exited, lastWords: (count) => words.tail(count), stop };
}

async function spawnGroup(options: ServerProcessOptions): Promise<ChildProcessWithoutNullStreams> {
  const { command, cwd, env, registry, container, bounds } = options;
  const [program = ''] = command;
  if (isMissing(program, env['PATH']))
    throw await spawnFailure(Object.assign(new Error('No such program'), { code: 'ENOENT' }), program, cwd);
  let child: ChildProcess | undefined;
  try {
    // Detached makes it the leader of its own group. Never a shell: an argument is an argument.
    const [file = '', ...args] = withLimits(command, bounds);
    const as = bounds?.account == null ? {} : { uid: bounds.account.uid, gid: bounds.account.gid };
    child = spawn(file, args, { cwd: cwd ?? undefined, env, stdio: 'pipe', detached: true, shell: false, windowsHide: true, ...as });
    const spawned = once(child, 'spawn');
    // Before anything else can happen, even before we know that it has really started.
    if (child.pid !== undefined) registry.add({ pid: child.pid, program: basename(program), container });
    await spawned;
    return child as ChildProcessWithoutNullStreams;
  } catch (error) {
    if (child?.pid === undefined) throw await spawnFailure(error, program, cwd);
    processGroup(child.pid).signal('SIGKILL');
    for (const pipe of child.stdio) pipe?.destroy();
    if (container !== undefined) await removeRunContainer(container, env, true);
    throw notRecorded(error);
  }
}

function withLimits(command: readonly string[], bounds: ProcessBounds | undefined): readonly string[] {
  if (bounds?.prlimit === undefined) return command;
  return boundedCommand(command, bounds.prlimit, bounds.limits, bounds.account !== null);
}

function notRecorded(cause: unknown): CribError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const advice = 'Check that the data directory can be written to.';
  return new CribError(
    'SERVICE_UNAVAILABLE',
    `The server was not started, because its process could not be recorded: ${reason}. ${advice}`,
    { cause },
  );
}

/** One piece per turn of the event loop, so that a process which floods its output leaves the rest of us our turns. */
function readFairly(stream: Readable, onBytes: (bytes: Buffer) => void): void {
  stream.on('data', (bytes: Buffer) => {
    onBytes(bytes);
    stream.pause();
    setImmediate(() => stream.resume());
  });
}
