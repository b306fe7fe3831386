import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { temporaryDirectory } from '../running-server.ts';

/** How a program ended, and everything it printed. */
interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface RunOptions {
  env?: Record<string, string>;
  /** Written to its standard input, which is then closed. */
  input?: string;
}

export interface RunningClient extends AsyncDisposable {
  /** What it printed so far, on both outputs. */
  readonly printed: string;
  /** The match of an expression in its output, as soon as there is one. */
  printedMatch(expression: RegExp): Promise<RegExpExecArray>;
  write(text: string): void;
  /** The last that it reads. */
  end(text: string): void;
  readonly ended: Promise<Ended>;
}

export interface ClientHome extends AsyncDisposable {
  path: string;
  /** Runs a program to its end, which must be a good one. */
  run(command: string[], options?: RunOptions): Promise<Ended>;
  start(command: string[], options?: Omit<RunOptions, 'input'>): RunningClient;
}

/** A client that needs longer than this waits for something that does not come. */
const giveUpMs = 120_000;

/** A port that nothing listens on: the clients reach loopback, and nothing else. */
const noWayOut = 'http://127.0.0.1:9';

/** Programs that clients may start: none of ours but Node. */
export const programPath = [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);

/** Clients that would look for updates, send statistics or open a browser do none of it. */
const quiet = {
  HTTP_PROXY: noWayOut,
  HTTPS_PROXY: noWayOut,
  http_proxy: noWayOut,
  https_proxy: noWayOut,
  NO_PROXY: '127.0.0.1,localhost',
  no_proxy: '127.0.0.1,localhost',
  DO_NOT_TRACK: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
  LANGSMITH_TRACING: 'false',
  BROWSER: '/bin/true',
  TERM: 'dumb',
  NO_COLOR: '1',
  CI: '1',
};

/** A home folder for a client, with an environment that has nothing of ours. It is deleted with everything in it, after its processes. */
export async function openClientHome(): Promise<ClientHome> {
  const directory = await temporaryDirectory();
  const [home, work, temporary] = ['home', 'work', 'tmp'].map((name) => join(directory.path, name)) as [string, string, string];
  await Promise.all([home, work, temporary].map((path) => mkdir(path)));
  const running = new Set<RunningClient>();

  function start([program = '', ...args]: string[], { env = {} }: RunOptions = {}): RunningClient {
    const child = spawn(program, args, {
      cwd: work,
      // A group of its own: some of these programs start others.
      detached: true,
      env: { PATH: programPath, HOME: home, TMPDIR: temporary, ...quiet, ...env },
    });
    const client = followClient(child, [program, ...args].join(' '));
    running.add(client);
    return client;
  }

  return {
    path: home,
    start,
    async run(command, options = {}) {
      const client = start(command, options);
      client.end(options.input ?? '');
      const ended = await client.ended;
      if (ended.code !== 0) throw new Error(`${command.join(' ')} ended with ${ended.code}:\n${client.printed}`);
      return ended;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...running].map((client) => client[Symbol.asyncDispose]()));
      await directory[Symbol.asyncDispose]();
    },
  };
}

function followClient(child: ChildProcessWithoutNullStreams, name: string): RunningClient {
  const output = { stdout: '', stderr: '', printed: '' };
  const looks = new Set<() => void>();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
      output.printed += text;
      for (const look of looks) look();
    });
  }
  // It may have ended before it read everything.
  child.stdin.on('error', () => undefined);
  const killGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of it has ended.
    }
  };
  const tooLong = setTimeout(killGroup, giveUpMs);
  const ended = once(child, 'close').then(([code]) => {
    clearTimeout(tooLong);
    return { code: code as number | null, stdout: output.stdout, stderr: output.stderr };
  });

  return {
    ended,
    get printed() {
      return output.printed;
    },
    write: (text) => void child.stdin.write(text),
    end: (text) => void child.stdin.end(text),
    async printedMatch(expression) {
      const { promise, resolve } = Promise.withResolvers<RegExpExecArray>();
      const look = () => {
        const match = expression.exec(output.printed);
        if (match !== null) resolve(match);
      };
      looks.add(look);
      look();
      const over = ended.then(({ code }) => {
        throw new Error(`${name} ended with ${code} and did not print ${expression}:\n${output.printed}`);
      });
      return Promise.race([promise, over]).finally(() => looks.delete(look));
    },
    async [Symbol.asyncDispose]() {
      killGroup();
      await ended;
    },
  };
}
