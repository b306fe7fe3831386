import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join, sep } from 'node:path';

export const launcher = join(import.meta.dirname, '..', '..', 'bin', 'toolcrib.cjs');

export interface RunOptions {
  /** Beside a minimal environment: nothing of what the tests themselves were started with. */
  env?: Record<string, string>;
  cwd?: string;
  /** For standard input, which is otherwise empty. */
  input?: string;
  /** The Node that starts the launcher; this one by default. */
  node?: string;
  launcher?: string;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunningProgram extends AsyncDisposable {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Everything on standard output, or standard error, as soon as it contains this; fails where the program ends without having said it. */
  printed(text: string, where?: 'stdout' | 'stderr'): Promise<string>;
}

/** The real program, started through its launcher. */
export function startToolcrib(args: string[], options: RunOptions = {}): RunningProgram {
  const child = spawn(options.node ?? process.execPath, [options.launcher ?? launcher, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.env },
    cwd: options.cwd,
  });
  child.stdin.on('error', () => undefined).end(options.input ?? '');
  const said = { stdout: '', stderr: '' };
  const more = new EventTarget();
  for (const where of ['stdout', 'stderr'] as const) {
    child[where].setEncoding('utf8').on('data', (chunk: string) => {
      said[where] += chunk;
      more.dispatchEvent(new Event('output'));
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    ...said,
  }));
  return {
    child,
    ended,
    async printed(text, where = 'stdout') {
      const over = ended.then(() => 'over' as const);
      while (!said[where].includes(text)) {
        const next = await Promise.race([once(more, 'output'), over]);
        if (next === 'over' && !said[where].includes(text)) {
          throw new Error(`It ended without saying ${JSON.stringify(text)}:\n${said.stdout}${said.stderr}`);
        }
      }
      return said[where];
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

export async function runToolcrib(args: string[], options: RunOptions = {}): Promise<Ended> {
  await using program = startToolcrib(args, options);
  return await program.ended;
}

/** A Node on this machine that is too old for Toolcrib, or undefined; those that npm installed do not count. */
export function findOldNode(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.split(sep).includes('node_modules'));
  return folders
    .map((folder) => join(folder, process.platform === 'win32' ? 'node.exe' : 'node'))
    .find((program) => {
      const { status, stdout } = spawnSync(program, ['-p', 'process.versions.node'], { encoding: 'utf8' });
      return status === 0 && Number.parseInt(stdout, 10) < 24;
    });
}
