import { pinToCore } from './pin-to-core.ts';
import type { LoadJob } from './load.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';

export type LoadProcess = WorkerProcess<LoadJob>;

/** One load program for the whole run: whatever it costs itself, it costs every server the same. */
export function startLoadProcess(): LoadProcess {
  const load = startWorkerProcess<LoadJob>('./load.ts');
  pinToCore(load.pid, 1);
  return load;
}
