import { CribError } from '../../../model/crib-error.ts';
import type { DockerEngine } from '../../../net/docker/engine.ts';
import { attachedExec } from './attached-stream.ts';
import { createExec, startExec } from './exec-requests.ts';
import { explainExecFailure } from './explain-exec-failure.ts';
import { guardScript } from './guard-script.ts';

/** Runs inside a container and ends the processes started there, on request and when we are gone. See guard-script.ts. */
export interface Guard {
  /** From now on the process ends when we do. */
  watch(pid: number): void;
  /** Resolves when nothing of the process is left; rejects where that is unknown. */
  end(pid: number): Promise<void>;
  /** Resolves when the guard has ended, alone or with its container. */
  readonly lost: Promise<void>;
  /** Ends all processes that it still watches. */
  close(): Promise<void>;
}

export interface GuardInput {
  engine: DockerEngine;
  containerId: string;
  user: string | null;
  signal?: AbortSignal;
}

/** Time to end everything, with room for a busy machine. */
const longestEndMs = 20_000;

export async function openGuard({ engine, containerId, user, signal }: GuardInput): Promise<Guard> {
  const command = ['/bin/sh', '-c', guardScript];
  const execId = await createExec(engine, { containerId, command, env: [], user, workdir: '/', signal });
  const words: Buffer[] = [];
  const { stdin, stdout, ended, destroy } = attachedExec(await startExec(engine, execId, signal), (piece) => void words.push(piece));
  const waiting = new Map<number, PromiseWithResolvers<void>>();
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => undefined);
  const said: string[] = [];
  let isLost = false;

  function hear(line: string): void {
    if (line === 'ready') return ready.resolve();
    const [, state, number] = /^(ended|left) (\d+)$/.exec(line) ?? [];
    const waiter = waiting.get(Number(number));
    if (waiter === undefined) return void said.push(line);
    waiting.delete(Number(number));
    if (state === 'ended') waiter.resolve();
    else waiter.reject(new CribError('SERVICE_UNAVAILABLE', `Process ${number} in the container cannot be ended`));
  }

  let held = '';
  stdout.on('data', (piece: Buffer) => {
    const lines = (held + piece.toString('utf8')).split('\n');
    held = lines.pop()?.slice(-1000) ?? '';
    for (const line of lines) hear(line.trim());
  });
  const lost = ended.then(() => {
    isLost = true;
    destroy();
    ready.reject(explainExecFailure([...said, held, Buffer.concat(words).toString('utf8')].join('\n')));
    for (const waiter of waiting.values()) waiter.reject(new CribError('SERVICE_UNAVAILABLE', 'The container, or Docker, is gone'));
    waiting.clear();
  });
  stdin.on('error', () => undefined);

  const abort = () => destroy();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await ready.promise;
  } catch (error) {
    destroy();
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }

  return {
    lost,
    watch: (pid) => void (isLost || stdin.write(`+${pid}\n`)),
    end(pid) {
      if (isLost) return Promise.reject(new CribError('SERVICE_UNAVAILABLE', 'The container, or Docker, is gone'));
      const known = waiting.get(pid);
      if (known !== undefined) return known.promise;
      const waiter = Promise.withResolvers<void>();
      waiting.set(pid, waiter);
      stdin.write(`!${pid}\n`);
      const timer = setTimeout(
        () => waiter.reject(new CribError('SERVICE_UNAVAILABLE', 'The container does not say whether the process has ended')),
        longestEndMs,
      );
      return waiter.promise.finally(() => clearTimeout(timer));
    },
    async close() {
      stdin.end();
      const timer = setTimeout(destroy, longestEndMs);
      await lost;
      clearTimeout(timer);
    },
  };
}
