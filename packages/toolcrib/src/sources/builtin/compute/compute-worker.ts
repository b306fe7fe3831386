import { parentPort } from 'node:worker_threads';
import { diffText } from './diff-text.ts';
import { queryJson } from './query-json.ts';
import type { WorkerMessage } from '../../../threads/worker-pool.ts';
import type { Work, WorkOutcome } from './work.ts';

/** The program of a worker thread: one piece of work at a time, every fault answered. It is ended from outside when it takes too long. */
function perform(work: Work): WorkOutcome {
  try {
    return work.kind === 'json_query' ? queryJson(work.data, work.query) : diffText(work);
  } catch (error) {
    if (error instanceof RangeError) return { failure: 'This is too large or too deeply nested to work on.' };
    return { failure: `It could not be worked out: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function send(message: WorkerMessage<WorkOutcome>): void {
  parentPort?.postMessage(message, []);
}

parentPort?.on('message', (work: Work) => send({ outcome: perform(work) }));
send('ready');
