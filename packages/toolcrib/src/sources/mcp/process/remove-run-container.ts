import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

/** A container that a `docker run` has made, under the name we gave it. */
export interface RunContainer {
  /** As in the command: docker, podman or nerdctl, perhaps by its path. */
  program: string;
  name: string;
}

/** `failed`: the engine is away, or did not remove it in time. */
export type Removal = 'removed' | 'absent' | 'failed';

const run = promisify(execFile);
/** For all attempts together. */
const patienceMs = 8000;
const pauseMs = 200;
const looksForLateOnes = 3;

/**
 * Removes the container and whatever runs in it. `late` says that the command was killed: a container it asked for a moment before may appear
 * only afterwards.
 */
export async function removeRunContainer(container: RunContainer, env: Record<string, string>, late: boolean): Promise<Removal> {
  const deadline = performance.now() + patienceMs;
  for (let look = 1; ; look++) {
    const removal = await attempt(container, env, deadline - performance.now());
    const isOver = removal === 'absent' ? !late || look >= looksForLateOnes : removal !== 'in progress';
    if (isOver || performance.now() + pauseMs > deadline) return removal === 'in progress' ? 'failed' : removal;
    await delay(pauseMs);
  }
}

async function attempt({ program, name }: RunContainer, env: Record<string, string>, timeout: number): Promise<Removal | 'in progress'> {
  try {
    // Together with its anonymous volumes.
    const { stderr } = await run(program, ['rm', '-f', '-v', name], {
      env,
      timeout: Math.max(1, Math.ceil(timeout)),
      killSignal: 'SIGKILL',
    });
    return isAbsent(stderr) ? 'absent' : 'removed';
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    if (isAbsent(stderr)) return 'absent';
    // Its own `--rm` is removing it.
    return stderr.includes('already in progress') ? 'in progress' : 'failed';
  }
}

/** Not every runner reports that as an error. */
function isAbsent(words: string): boolean {
  return /no such container|no container with/i.test(words);
}
