import { openInspector } from './inspector.ts';

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

/** Connects to a Node process that was started with `--inspect=127.0.0.1:<port>`. Its main thread is profiled. */
export async function openProfiler(port: number, samplingIntervalUs: number): Promise<Profiler> {
  const inspector = await openInspector(port);
  await inspector.ask('Profiler.enable');
  await inspector.ask('Profiler.setSamplingInterval', { interval: samplingIntervalUs });
  return {
    async start() {
      await inspector.ask('Profiler.start');
    },
    async stop() {
      return ((await inspector.ask('Profiler.stop')) as { profile: CpuProfile }).profile;
    },
    [Symbol.dispose]: () => inspector[Symbol.dispose](),
  };
}
