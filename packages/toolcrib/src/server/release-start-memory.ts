import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How long the server has to be idle before it is stopped for a moment. */
const quietMs = 2000;
/** The share of that time in which anything may have run: health checks and metrics do not count as work. */
const quietShare = 0.05;
/** The pause grows with the heap: 0.15 to 0.35 s for the usual 35 MB on a busy machine. Servers with a large inventory keep their memory instead. */
const largestHeapBytes = 100_000_000;

type CollectGarbage = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/**
 * Loading the program leaves a young generation that has grown to its limit, and half-empty pages: 20 MB that V8 gives back only when it runs
 * short of memory. This makes it do so once, when the server is first idle. A server that has calls from the start is left alone. Returns
 * how to stop waiting.
 */
export function releaseStartMemory(): () => void {
  let before = performance.eventLoopUtilization();
  const waiting = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > quietShare) return;
    clearInterval(waiting);
    if (getHeapStatistics().used_heap_size < largestHeapBytes) collectGarbage();
  }, quietMs).unref();
  return () => clearInterval(waiting);
}

function collectGarbage(): void {
  // There is no other way to ask for it without a flag on the command line.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as CollectGarbage;
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setFlagsFromString('--no-expose-gc');
}
