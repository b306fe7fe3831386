import { pinToCore } from './pin-to-core.ts';
import type { LoadJob } from './load.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';

export type LoadProcess = WorkerProcess<LoadJob>;

/** One load program for the whole run, so that its own cost is the same for every server. */
export function startLoadProcess(): LoadProcess {
  const load = startWorkerProcess<LoadJob>('./load.ts');
  pinToCore(load.pid, 1);
  return load;
}
