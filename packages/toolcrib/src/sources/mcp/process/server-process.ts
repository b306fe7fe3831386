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
import type { ServerLog } from '../../upstream/logs/server-log.ts';
import { spawnTurn } from './spawn-turns.ts';
import { settledWithin } from './settled-within.ts';
import { spawnFailure } from './spawn-failure.ts';

/** One running server, and all processes it starts. */
export interface ServerProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The source's log, where standard error goes. */
  readonly log: ServerLog;
  /** Resolves when the process has ended, by itself or not, and its last output has been read. */
  readonly exited: Promise<ProcessExit>;
  /** How long it may take after the end of its output to learn how it ended, where that is more than a moment. */
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
  /** The container that the command makes. It is removed when the command has ended, however it ended. */
  container?: RunContainer;
  patience?: Patience;
  /** Without it: no limits, and our own account. */
  bounds?: ProcessBounds;
  /** Lets the first starts of other servers go first. */
  later?: boolean;
}

interface Patience {
  /** Between the end of its input and SIGTERM. */
  politeMs: number;
  /** Between SIGTERM and SIGKILL. */
  termMs: number;
}

/** Together less than 6 seconds, after which nothing may be left. */
const usualPatience: Patience = { politeMs: 500, termMs: 5000 };
/** A child of the dead process may hold its output open: after this time we stop reading. */
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
  // Its pipes may break when the process dies, which is reported elsewhere. An error without a listener would end the gateway.
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

  // Both listeners are added now, because the two events may come together.
  const gone = new Promise<ProcessExit>((resolve) =>
    child.once('exit', (code, signal) =>
      resolve(container === undefined ? boundedExit({ code, signal }) : containedExit({ code, signal })),
    ),
  );
  const closed = new Promise((resolve) => child.once('close', resolve));
  const exited = gone.then(async (exit) => {
    await settledWithin(closed, lastWordsMs);
    // If we were blocked for longer than that, its last output is there but not read yet.
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
    // Where a process survives, its record stays too, and the next start tries again.
    if (!ended) log.append('event', `${name} could not be ended: it is stuck in the kernel.`);
    else {
      const exit = await exited;
      if (container === undefined || (await removeRunContainer(container, env, isKilled(exit))) !== 'failed') registry.remove(pid);
      else log.append('event', `The container ${container.name} could not be removed: Docker does not answer, or does not release it.`);
    }
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy();
  }

  let ending: Promise<void> | undefined;
  const stop = () => (ending ??= end());
  // The children of a process do not outlive it, however it ended.
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
    // Detached makes it the leader of its own group. Never through a shell, which would interpret the arguments.
    const [file = '', ...args] = withLimits(command, bounds);
    const as = bounds?.account == null ? {} : { uid: bounds.account.uid, gid: bounds.account.gid };
    child = spawn(file, args, { cwd: cwd ?? undefined, env, stdio: 'pipe', detached: true, shell: false, windowsHide: true, ...as });
    const spawned = once(child, 'spawn');
    // Recorded at once, even before we know that it has really started.
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

/** One piece per turn of the event loop, so that a process that floods its output does not hold up everything else. */
function readFairly(stream: Readable, onBytes: (bytes: Buffer) => void): void {
  stream.on('data', (bytes: Buffer) => {
    onBytes(bytes);
    stream.pause();
    setImmediate(() => stream.resume());
  });
}
