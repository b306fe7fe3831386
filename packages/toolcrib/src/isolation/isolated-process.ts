import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serialize } from 'node:v8';
import { codeFolders } from './code-folders.ts';
import { createFrameReader, frameOf } from './frames.ts';

/** How a process ended, unless we killed it. */
export type IsolatedEnd =
  | { how: 'finished' }
  /** Its heap, or the whole process, has outgrown the limit. */
  | { how: 'memory' }
  /** Its output exceeded the limit. */
  | { how: 'output' }
  | { how: 'crash'; words: string };

export interface IsolatedProcess {
  /** Undefined where it could not be started. */
  readonly pid: number | undefined;
  /** Settles when the process is gone. */
  readonly gone: Promise<IsolatedEnd>;
  /** Sends any value that can be cloned. */
  send(message: unknown): void;
  /** Takes effect whatever the process is doing, without waiting. */
  kill(): void;
}

export interface IsolatedProcessOptions {
  /** A file of ours that calls `connectToGateway`. */
  program: URL;
  memoryLimitMb: number;
  /** The limit of its whole output. */
  mostOutputBytes: number;
  onMessage(message: unknown): void;
}

/** For Node itself, its code, and the input while it is being read. */
const besideHeapMb = 512;
const longestWords = 4000;

/**
 * Runs a program of ours on possibly hostile input. It gets none of our environment, descriptors or files; the engine ends it at its heap
 * limit, and a watchdog inside it ends it at the memory limit of the process, or when this process has died.
 */
export function startIsolated({ program, memoryLimitMb, mostOutputBytes, onMessage }: IsolatedProcessOptions): IsolatedProcess {
  const file = fileURLToPath(program);
  const child = spawn(
    process.execPath,
    [
      `--max-old-space-size=${memoryLimitMb}`,
      '--no-warnings',
      // It may read its own code, write nothing and start no program. Its one thread is the watchdog.
      '--permission',
      '--allow-worker',
      ...[file, ...codeFolders()].map((path) => `--allow-fs-read=${path}`),
      file,
      String(process.pid),
      String(memoryLimitMb + besideHeapMb),
    ],
    { env: {}, cwd: dirname(file), stdio: 'pipe', shell: false, windowsHide: true },
  );
  const gone = Promise.withResolvers<IsolatedEnd>();
  child.on('error', (error) => gone.resolve({ how: 'crash', words: error.message }));
  const { pid, stdin, stdout, stderr } = child;
  // Without a free descriptor there are no pipes either, whatever the type says.
  if ((stdin as typeof stdin | undefined) === undefined) return { pid, gone: gone.promise, send: () => undefined, kill: () => undefined };
  // When memory runs out, Linux ends this process and not the gateway. Other systems have no such file.
  if (pid !== undefined) void writeFile(`/proc/${pid}/oom_score_adj`, '1000').catch(() => undefined);

  let fault: Error | undefined;
  let heard = 0;
  let words = '';
  const read = createFrameReader(mostOutputBytes, (message) => onMessage(JSON.parse(message.toString())));
  stdout.on('data', (chunk: Buffer) => {
    heard += chunk.length;
    try {
      if (heard > mostOutputBytes) throw new RangeError(`It says more than ${mostOutputBytes} bytes`);
      read(chunk);
    } catch (error) {
      fault = error as Error;
      stdout.removeAllListeners('data').resume();
      child.kill('SIGKILL');
    }
  });
  // The cause comes first, then the place.
  stderr.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(0, longestWords)));
  // Its end is handled below; without a listener, an error of a pipe would end the gateway.
  for (const pipe of [stdin, stdout, stderr]) pipe.on('error', () => undefined);
  child.on('close', (code, signal) => {
    if (fault !== undefined) gone.resolve(fault instanceof RangeError ? { how: 'output' } : { how: 'crash', words: fault.message });
    else if (code === 0) gone.resolve({ how: 'finished' });
    // We did not kill it, so the watchdog or the kernel killed it for its memory.
    else if (signal === 'SIGKILL' || /heap limit|out of memory|allocation failed/i.test(words)) gone.resolve({ how: 'memory' });
    else gone.resolve({ how: 'crash', words: `It ended with ${signal ?? `code ${code}`}. ${words}` });
  });

  return {
    pid,
    gone: gone.promise,
    send(message) {
      for (const part of frameOf(serialize(message))) stdin.write(part);
    },
    kill() {
      child.kill('SIGKILL');
    },
  };
}
