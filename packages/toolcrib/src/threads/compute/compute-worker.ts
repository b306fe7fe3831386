import { parentPort } from 'node:worker_threads';
import { diffText } from './diff-text.ts';
import { queryJson } from './query-json.ts';
import type { WorkerMessage } from '../worker-seat.ts';
import type { Work, WorkOutcome } from './work.ts';

/** The program of a worker thread. Does one job at a time, and answers even if it fails. The pool terminates it when it takes too long. */
function perform(work: Work): WorkOutcome {
  try {
    return work.kind === 'json_query' ? queryJson(work.data, work.query) : diffText(work);
  } catch (error) {
    if (error instanceof RangeError) return { failure: 'The input is too large or too deeply nested.' };
    return { failure: `The work failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function send(message: WorkerMessage<WorkOutcome>): void {
  parentPort?.postMessage(message, []);
}

parentPort?.on('message', (work: Work) => send({ outcome: perform(work) }));
send('ready');
