import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadReport } from './load.ts';

export interface WorkerProcess<Job extends object> extends AsyncDisposable {
  readonly pid: number;
  /** One at a time. */
  run(job: Job): Promise<LoadReport>;
}

/** A program of the bench in its own process, which runs the task it is sent and answers with a report. */
export function startWorkerProcess<Job extends object>(file: string, args: string[] = []): WorkerProcess<Job> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args);
  return {
    pid: child.pid ?? 0,
    async run(job) {
      const ended = new AbortController();
      child.send(job);
      try {
        const exited = once(child, 'exit', { signal: ended.signal }).then(([code, signal]) => {
          throw new Error(`${file} ended early: ${signal ?? code}`);
        });
        const [message] = (await Promise.race([once(child, 'message', { signal: ended.signal }), exited])) as [
          { report?: LoadReport; error?: string },
        ];
        if (message.report === undefined) throw new Error(message.error ?? `${file} sent no report`);
        return message.report;
      } finally {
        ended.abort();
      }
    },
    async [Symbol.asyncDispose]() {
      if (!child.connected) return;
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
