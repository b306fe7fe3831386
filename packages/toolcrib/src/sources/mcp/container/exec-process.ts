import { setTimeout as delay } from 'node:timers/promises';
import { EngineUnavailableError } from '../../../model/named-errors.ts';
import type { DockerEngine } from '../../../net/docker/engine.ts';
import { isRefusal } from '../../../net/docker/engine-failure.ts';
import { describeExit, type ProcessExit } from '../process/process-exit.ts';
import type { ServerLog } from '../../upstream/logs/server-log.ts';
import type { ServerProcess } from '../process/server-process.ts';
import { settledWithin } from '../process/settled-within.ts';
import { attachedExec } from './attached-stream.ts';
import { createExec, inspectExec, startExec } from './exec-requests.ts';
import { explainExecFailure } from './explain-exec-failure.ts';
import { openGuard, type Guard } from './guard.ts';
import { launchScript } from './guard-script.ts';
import { inspectContainer, isRunning } from './inspect-container.ts';
import { createLaunchWords } from './launch-words.ts';

export interface ExecProcessOptions {
  engine: DockerEngine;
  containerId: string;
  guard: Guard;
  command: readonly string[];
  /** The whole environment, in addition to the image's own. */
  env: Readonly<Record<string, string>>;
  user: string | null;
  workdir: string | null;
  log: ServerLog;
  signal: AbortSignal;
}

/** Between the end of its input and SIGTERM. */
const politeMs = 500;
/** A process that takes longer to end may be in a paused container, which is then checked. */
const pausedWithinMs = 1000;
/** The stream ends a moment before the engine knows the exit code. */
const exitKnownWithinMs = 2000;

/** [MCP-4] A server inside a container. The rest of the code treats it like one on this machine. */
export async function startExecProcess(options: ExecProcessOptions): Promise<ServerProcess> {
  const { engine, containerId, guard, user, workdir, log, signal } = options;
  const command = ['/bin/sh', '-c', launchScript, 'sh', ...options.command];
  const env = Object.entries(options.env).map(([name, value]) => `${name}=${value}`);
  const execId = await createExec(engine, { containerId, command, env, user, workdir, signal });
  const words = log.writer('stderr');
  const launch = createLaunchWords((piece) => words.write(piece));
  const attached = attachedExec(await startExec(engine, execId, signal), launch.write);
  attached.stdin.on('error', () => undefined);
  // Closing the connection closes its input; without our answer the launch script does not become the server.
  signal.addEventListener('abort', attached.destroy, { once: true });
  const pid = await Promise.race([launch.pid, attached.ended.then(() => undefined)]);
  signal.removeEventListener('abort', attached.destroy);
  if (pid === undefined) {
    signal.throwIfAborted();
    words.end();
    const output = Buffer.concat((await attached.stdout.toArray()) as Buffer[]).toString('utf8');
    throw explainExecFailure(`${output} ${words.tail(5).join(' ')}`);
  }
  const name = `Process ${pid} in the container`;
  guard.watch(pid);
  // Its number is known and the guard watches it: now it may become the server.
  attached.stdin.write('\n');
  log.append('event', `${name} started.`);

  let ending: Promise<void> | undefined;
  const exited = attached.ended.then(async (failure) => {
    const exit = await learnExit(engine, { execId, containerId, failure, endedByUs: ending !== undefined });
    words.end();
    log.append('event', `${name} ${describeExit(exit)}.`);
    return exit;
  });

  async function end(): Promise<void> {
    attached.stdin.end();
    await settledWithin(attached.ended, politeMs);
    await endInside(options, pid as number).catch((error: unknown) => {
      if (!(error instanceof EngineUnavailableError)) log.append('event', `${name} may not have ended: ${String(error)}`);
    });
    // By now only a process that is not the server's can hold the output open, so this wait is bounded.
    await settledWithin(exited, exitKnownWithinMs);
    attached.destroy();
    await exited;
  }

  const stop = () => (ending ??= end());
  // The children of a process do not outlive it, however it ended.
  void attached.ended.then(stop);
  return {
    pid,
    stdin: attached.stdin,
    stdout: attached.stdout,
    log,
    exited,
    // Twice, because the state of the container is asked for too.
    exitKnownWithinMs: 2 * exitKnownWithinMs,
    lastWords: (count) => words.tail(count),
    stop,
  };
}

/** Where the guard itself is gone, killed by hand or for lack of memory, another is started for this. */
async function endInside({ engine, containerId, guard, user }: ExecProcessOptions, pid: number): Promise<void> {
  const ended = guard.end(pid);
  try {
    await Promise.race([ended, standStill(engine, containerId, ended)]);
  } catch (error) {
    if (!(await isRunning(engine, containerId))) return;
    const another = await openGuard({ engine, containerId, user });
    try {
      await another.end(pid);
    } catch {
      throw error;
    } finally {
      await another.close();
    }
  }
}

/** Resolves where the container is paused: the guard has been told, and ends the process when the container is resumed. */
async function standStill(engine: DockerEngine, containerId: string, ended: Promise<void>): Promise<void> {
  const isSlow = await Promise.race([ended.then(() => false), delay(pausedWithinMs, true)]);
  if (!isSlow || !(await inspectContainer(engine, containerId)).paused) await ended;
}

interface EndedExec {
  execId: string;
  containerId: string;
  failure: Error | undefined;
  endedByUs: boolean;
}

async function learnExit(engine: DockerEngine, { execId, containerId, failure, endedByUs }: EndedExec): Promise<ProcessExit> {
  try {
    const deadline = performance.now() + exitKnownWithinMs;
    for (let pause = 5; ; pause = Math.min(2 * pause, 100)) {
      const { Running: running, ExitCode: code } = await inspectExec(engine, execId);
      if (!running && code !== null) return { code, signal: null, ...(endedByUs ? {} : await fateOf(engine, containerId, code)) };
      if (performance.now() > deadline) break;
      await delay(pause);
    }
    return lost(failure === undefined ? 'closed its output' : `was cut off: ${failure.message}`);
  } catch (error) {
    if (isRefusal(error, 404)) return lost('was ended, because its container was removed');
    return lost('was cut off, because Docker went away');
  }
}

/** When a container ends, everything in it ends with the code of SIGKILL. */
async function fateOf(engine: DockerEngine, containerId: string, code: number): Promise<{ reason?: string }> {
  if (code !== 137) return {};
  const { memoryMb } = await inspectContainer(engine, containerId);
  if (!(await isRunning(engine, containerId))) return { reason: 'was ended, because its container stopped' };
  return memoryMb === null ? {} : { reason: `was killed, perhaps for lack of memory: its container may use ${memoryMb} MiB` };
}

function lost(reason: string): ProcessExit {
  return { code: null, signal: null, reason };
}
