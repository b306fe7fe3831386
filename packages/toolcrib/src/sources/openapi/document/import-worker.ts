import { parentPort, workerData } from 'node:worker_threads';
import { CribError } from '../../../model/crib-error.ts';
import { compileDocument } from './compile-document.ts';
import { takeInDocuments } from './external-documents.ts';
import type { ImportMessage, ImportWork, LoadAnswer } from './import-messages.ts';
import { createImportNotes } from './import-notes.ts';
import { objectAt } from './node.ts';
import { openDocument } from './open-document.ts';
import { parseDocument } from './parse-document.ts';

/** The program of the thread that imports one document: nothing that the document does there can hold up anybody else. */
const charactersAtOnce = 256 * 1024;
const waiting = new Map<string, PromiseWithResolvers<string>>();

function send(message: ImportMessage): void {
  parentPort?.postMessage(message, []);
}

function load(url: string): Promise<string> {
  const answered = Promise.withResolvers<string>();
  waiting.set(url, answered);
  send({ kind: 'load', url });
  return answered.promise;
}

async function run({ text, url: address, externalRefs, ...settings }: ImportWork): Promise<void> {
  const url = address === null ? null : new URL(address);
  const notes = createImportNotes();
  const { value, warnings } = parseDocument(text);
  const document = openDocument(value);
  const loaded = await takeInDocuments(objectAt(value), url, { allowed: externalRefs, load });
  for (const message of [...warnings, ...loaded.warnings]) notes.warn(message);

  let batch: string[] = [];
  let size = 0;
  function flush(): void {
    if (batch.length > 0) send({ kind: 'tools', json: `[${batch.join(',')}]` });
    batch = [];
    size = 0;
  }
  function give(json: string): void {
    batch.push(json);
    size += json.length;
    if (size > charactersAtOnce) flush();
  }

  const { report, ...rest } = compileDocument({ document, url, ...settings, notes, give });
  flush();
  notes.close();
  const { skipped, warnings: noted } = notes;
  const bytes = Buffer.byteLength(text) + loaded.bytes;
  const whole = { ...rest, report: { ...report, skipped, warnings: noted, bytes, external_refs: loaded.urls } };
  send({ kind: 'done', json: JSON.stringify(whole) });
}

parentPort?.on('message', (answer: LoadAnswer) => {
  const answered = waiting.get(answer.url);
  waiting.delete(answer.url);
  if ('text' in answer) answered?.resolve(answer.text);
  else answered?.reject(new Error(answer.failure));
});

try {
  await run(workerData as ImportWork);
} catch (error) {
  if (error instanceof CribError) send({ kind: 'failed', code: error.code, message: error.message });
  else if (error instanceof RangeError)
    send({ kind: 'failed', code: 'VALIDATION_ERROR', message: 'The document is too large or too deeply nested' });
  else throw error;
}
parentPort?.close();
