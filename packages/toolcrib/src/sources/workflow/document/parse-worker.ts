import { parentPort, workerData } from 'node:worker_threads';
import { CribError } from '../../../model/crib-error.ts';
import { parseDocument } from '../../openapi/document/parse-document.ts';

export type ParseOutcome = { json: string; warnings: string[] } | { failure: string };

/** What is written out of short aliases can be long. */
const longestJson = 4_000_000;

/** The program of the thread: one text, and its end. */
function parse(text: string): ParseOutcome {
  try {
    const { value, warnings } = parseDocument(text);
    // What JSON cannot carry, such as an infinite number, has no place in a plan that is stored as JSON.
    const json = JSON.stringify(value) ?? 'null';
    return json.length > longestJson ? { failure: 'The document comes to too much once its aliases are written out' } : { json, warnings };
  } catch (error) {
    if (error instanceof CribError) return { failure: error.message };
    return { failure: `The document cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}

const outcome: ParseOutcome = parse(String(workerData));
parentPort?.postMessage(outcome, []);
