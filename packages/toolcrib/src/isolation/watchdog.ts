import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

/** A thread beside the work, which may never yield: it ends a process that is too large, or whose gateway has died. */
const { gateway, mostBytes } = workerData as { gateway: number; mostBytes: number };
const everyMs = 100;

setInterval(() => {
  if (process.memoryUsage.rss() > mostBytes) {
    writeSync(2, 'The process is out of memory\n');
    process.kill(process.pid, 'SIGKILL');
  }
  if (process.ppid !== gateway) process.kill(process.pid, 'SIGKILL');
}, everyMs);
