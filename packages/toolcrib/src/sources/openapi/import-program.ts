import { connectToGateway } from '../../isolation/connect-to-gateway.ts';
import { compileManual } from './manual/compile-manual.ts';
import { isManual } from './manual/manual.ts';
import { compileDocument, type CompiledDocument } from './document/compile-document.ts';
import { takeInDocuments } from './document/external-documents.ts';
import type { ImportWork, LoadAnswer, LoadRequest } from './import-messages.ts';
import { createImportNotes } from '../documents/import-notes.ts';
import type { ImportedDocument } from '../documents/imported-document.ts';
import { sendResult } from '../documents/send-result.ts';
import { createToolBatches } from '../documents/tool-batches.ts';
import { openDocument } from './document/open-document.ts';
import { parseDocument } from '../documents/parse-document.ts';

/** This program imports one document in a process of its own, so that a hostile document can neither block nor crash the gateway. */
const waiting = new Map<string, PromiseWithResolvers<string>>();
const gateway = connectToGateway((message) => void take(message as ImportWork | LoadAnswer));

function load(url: string): Promise<string> {
  const answered = Promise.withResolvers<string>();
  waiting.set(url, answered);
  const request: LoadRequest = { kind: 'load', url };
  gateway.send(JSON.stringify(request));
  return answered.promise;
}

async function run({ text, url: address, names, externalRefs, serverUrl, serverVariables, asyncPoll }: ImportWork) {
  const url = address === null ? null : new URL(address);
  const notes = createImportNotes();
  const { value, warnings } = parseDocument(text);
  for (const message of warnings) notes.warn(message);

  const { give, flush } = createToolBatches(gateway.send);
  const common = { url, serverUrl, asyncPoll, notes, give };
  let loaded = { bytes: 0, urls: [] as string[] };
  async function compiled(): Promise<CompiledDocument> {
    if (isManual(value)) return compileManual({ ...common, manual: value, names });
    const document = openDocument(value);
    const found = await takeInDocuments(document, url, { allowed: externalRefs, load });
    for (const message of found.warnings) notes.warn(message);
    loaded = found;
    return compileDocument({ ...common, document, serverVariables });
  }

  const { report, ...rest } = await compiled();
  flush();
  notes.close();
  const { skipped, warnings: noted } = notes;
  const bytes = Buffer.byteLength(text) + loaded.bytes;
  return { ...rest, report: { ...report, skipped, warnings: noted, bytes, external_refs: loaded.urls } };
}

async function take(message: ImportWork | LoadAnswer): Promise<void> {
  switch (message.kind) {
    case 'work':
      return sendResult<Omit<ImportedDocument, 'tools'>>(gateway, () => run(message));
    case 'loaded':
      return waiting.get(message.url)?.resolve(message.text);
    case 'not-loaded':
      return waiting.get(message.url)?.reject(new Error(message.failure));
  }
}
