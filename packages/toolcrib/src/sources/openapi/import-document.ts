import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CribError } from '../../model/crib-error.ts';
import type { ImportReport } from '../../model/import-report.ts';
import type { PollProfile } from '../../model/poll-profile.ts';
import type { DiscoveredTool } from '../../model/tool.ts';
import type { ImportMessage, ImportWork, LoadAnswer } from './document/import-messages.ts';

export interface DocumentInput {
  text: string;
  /** Where it came from; null where it was pasted. */
  url: URL | null;
  /** Stands in for all servers that the document names. */
  serverUrl: string | null;
  serverVariables: Record<string, string>;
  /** Beginnings of the addresses that the document may refer to. */
  externalRefs: readonly string[];
  load(url: URL, signal: AbortSignal): Promise<string>;
  /** [POLL-1] By the name of the tool. */
  asyncPoll: Record<string, PollProfile>;
  signal: AbortSignal;
  timeLimitMs?: number;
  memoryLimitMb?: number;
}

export interface ImportedDocument {
  title: string;
  version: string;
  tools: DiscoveredTool[];
  report: ImportReport;
}

// The source runs as TypeScript, the package as JavaScript; the worker's file stands beside this one in both.
const workerFile = new URL(`./document/import-worker${extname(import.meta.url)}`, import.meta.url);

/**
 * [OAS-1] Makes tools of an OpenAPI document, on a thread of its own that is ended where a document takes too much. Rejects with
 * `VALIDATION_ERROR` where it is none, and with the signal's reason.
 */
export async function importDocument(input: DocumentInput): Promise<ImportedDocument> {
  const { timeLimitMs = 60_000, memoryLimitMb = 1024, signal } = input;
  signal.throwIfAborted();
  const ended = new AbortController();
  const stopped = AbortSignal.any([signal, ended.signal]);
  const worker = new Worker(workerFile, {
    // Nothing of ours is of use to the work, and the environment holds secrets.
    env: {},
    execArgv: [],
    workerData: workOf(input),
    resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb, stackSizeMb: 4 },
  });
  const finished = Promise.withResolvers<ImportedDocument>();
  const tools: DiscoveredTool[] = [];
  const timer = setTimeout(() => finished.reject(tooMuch(`longer than ${timeLimitMs / 1000} seconds`)), timeLimitMs);
  const onAbort = () => finished.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });

  worker.on('message', (message: ImportMessage) => {
    switch (message.kind) {
      case 'load':
        void answerLoad(message.url);
        break;
      case 'tools':
        tools.push(...(JSON.parse(message.json) as DiscoveredTool[]));
        break;
      case 'done':
        finished.resolve({ ...(JSON.parse(message.json) as Omit<ImportedDocument, 'tools'>), tools });
        break;
      case 'failed':
        finished.reject(new CribError(message.code, message.message));
        break;
    }
  });
  worker.on('error', (error: NodeJS.ErrnoException) => {
    const memory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    finished.reject(memory ? tooMuch(`more than ${memoryLimitMb} MB of memory`) : brokeOff(error));
  });
  worker.on('exit', () => finished.reject(brokeOff()));

  async function answerLoad(url: string): Promise<void> {
    let answer: LoadAnswer;
    try {
      answer = { url, text: await input.load(new URL(url), stopped) };
    } catch (error) {
      answer = { url, failure: error instanceof Error ? error.message : String(error) };
    }
    if (!stopped.aborted) worker.postMessage(answer, []);
  }

  try {
    return await finished.promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    ended.abort();
    await worker.terminate();
  }
}

function workOf({ text, url, serverUrl, serverVariables, externalRefs, asyncPoll }: DocumentInput): ImportWork {
  return { text, url: url?.href ?? null, serverUrl, serverVariables, externalRefs, asyncPoll };
}

function tooMuch(what: string): CribError {
  return new CribError('VALIDATION_ERROR', `The document takes ${what} to read; give a smaller one`);
}

function brokeOff(cause?: unknown): CribError {
  return new CribError('INTERNAL', 'The thread that reads the document broke off', { cause });
}
