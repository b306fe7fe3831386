import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { pinToCore } from './pin-to-core.ts';
import type { LoadJob, LoadReport } from './load.ts';

export interface LoadProcess extends AsyncDisposable {
  run(job: LoadJob): Promise<LoadReport>;
}

/** One load program for the whole run: whatever it costs itself, it costs every server the same. */
export function startLoadProcess(): LoadProcess {
  const child = fork(fileURLToPath(new URL('./load.ts', import.meta.url)));
  pinToCore(child.pid, 1);
  return {
    async run(job) {
      const ended = new AbortController();
      child.send(job);
      try {
        const exited = once(child, 'exit', { signal: ended.signal }).then(() => {
          throw new Error('The load program ended early');
        });
        const [message] = (await Promise.race([once(child, 'message', { signal: ended.signal }), exited])) as [
          { report?: LoadReport; error?: string },
        ];
        if (message.report === undefined) throw new Error(message.error ?? 'The load program sent no report');
        return message.report;
      } finally {
        ended.abort();
      }
    },
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
