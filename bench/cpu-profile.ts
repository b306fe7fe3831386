/** A processor profile of another process, taken through its inspector. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** One function in one place of the call tree: https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-ProfileNode */
export interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string };
  children?: number[];
}

export interface CpuProfile {
  nodes: ProfileNode[];
  samples: number[];
}

export interface Profiler extends Disposable {
  start(): Promise<void>;
  stop(): Promise<CpuProfile>;
}

/** The inspector may open its port a moment after the process has started. */
const longestWaitMs = 10_000;
const askAgainMs = 50;

/** Connects to a Node process that was started with `--inspect=127.0.0.1:<port>`. Its main thread is profiled. */
export async function openProfiler(port: number, samplingIntervalUs: number): Promise<Profiler> {
  const socket = new WebSocket(await inspectorUrl(port));
  await once(socket, 'open');
  const waiting = new Map<number, (result: unknown) => void>();
  let lastId = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  const ask = (method: string, params: object = {}) =>
    new Promise<unknown>((resolve) => {
      waiting.set(++lastId, resolve);
      socket.send(JSON.stringify({ id: lastId, method, params }));
    });
  await ask('Profiler.enable');
  await ask('Profiler.setSamplingInterval', { interval: samplingIntervalUs });
  return {
    async start() {
      await ask('Profiler.start');
    },
    async stop() {
      return ((await ask('Profiler.stop')) as { profile: CpuProfile }).profile;
    },
    [Symbol.dispose]: () => socket.close(),
  };
}

async function inspectorUrl(port: number): Promise<string> {
  for (const end = performance.now() + longestWaitMs; performance.now() < end; await sleep(askAgainMs)) {
    try {
      const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
      if (targets[0] !== undefined) return targets[0].webSocketDebuggerUrl;
    } catch {
      // Not open yet.
    }
  }
  throw new Error(`No inspector answered on port ${port} within ${longestWaitMs} ms`);
}
