import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { request, type IncomingMessage } from 'node:http';
import { pinToCore } from './pin-to-core.ts';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ServerProcess extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
  /** From the start of the process to the first good answer of `/healthz`. */
  readonly readyMs: number;
  stop(): Promise<void>;
}

const longestStartMs = 30_000;
const longestStopMs = 10_000;
const askAgainMs = 4;

export interface ServerProgram {
  /** This Node by default. */
  program?: string;
  args(port: number): string[];
  env?: NodeJS.ProcessEnv | undefined;
  /** Whether it answers yet; polled. */
  isReady?(port: number): Promise<boolean>;
}

/** Starts a server as a separate process, and waits until it answers. */
export async function startServerProcess({ program, args, env, isReady = isHealthy }: ServerProgram): Promise<ServerProcess> {
  const port = await freePort();
  const began = performance.now();
  const child = spawn(program ?? process.execPath, args(port), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints = (complaints + text).slice(-4000)));
  const exited = once(child, 'exit');

  async function stop(): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    const patience = setTimeout(() => child.kill('SIGKILL'), longestStopMs);
    await exited;
    clearTimeout(patience);
  }

  while (!(await isReady(port))) {
    if (child.exitCode !== null) throw new Error(`The server ended while it started:\n${complaints}`);
    if (performance.now() - began > longestStartMs) {
      await stop();
      throw new Error(`The server did not answer within ${longestStartMs} ms:\n${complaints}`);
    }
    await sleep(askAgainMs);
  }
  const readyMs = performance.now() - began;
  pinToCore(child.pid, 0);
  return { pid: child.pid ?? 0, port, readyMs, stop, [Symbol.asyncDispose]: stop };
}

async function isHealthy(port: number): Promise<boolean> {
  try {
    const asked = request({ host: '127.0.0.1', port, path: '/healthz', agent: false }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return response.statusCode === 200;
  } catch {
    return false;
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
