import { connectToGateway } from '../../../isolation/connect-to-gateway.ts';
import { CribError } from '../../../model/crib-error.ts';
import type { ImportReport } from '../../../model/import-report.ts';
import { createImportNotes } from '../../documents/import-notes.ts';
import { createToolBatches } from '../../documents/tool-batches.ts';
import { compileSchema } from './compile-schema.ts';
import type { ImportMessage, ImportWork } from './import-messages.ts';
import { readSchema, type ReadSchema } from './read-schema.ts';
import { selectableTypes } from './selectable-types.ts';

/** The program that reads one schema in its own process, where a bad schema cannot block or crash the server. */
const gateway = connectToGateway((message) => runToTheEnd(message as ImportWork));

function send(message: ImportMessage): void {
  gateway.send(JSON.stringify(message));
}

function compiled(schema: ReadSchema, { text, endpoint, limits }: ImportWork): ImportReport {
  const notes = createImportNotes();
  const { give, flush } = createToolBatches(gateway.send);
  const report = compileSchema({ schema, endpoint, limits, notes, give });
  flush();
  notes.close();
  const { skipped, warnings } = notes;
  return { ...report, skipped, warnings, bytes: Buffer.byteLength(text) };
}

function runToTheEnd(work: ImportWork): void {
  try {
    const schema = readSchema(work.text);
    send({ kind: 'done', report: work.tools ? compiled(schema, work) : null, types: selectableTypes(schema.table) ?? null });
  } catch (error) {
    if (error instanceof CribError) send({ kind: 'failed', code: error.code, message: error.message });
    else if (error instanceof RangeError)
      send({ kind: 'failed', code: 'VALIDATION_ERROR', message: 'The schema is too large or too deeply nested' });
    else throw error;
  }
  gateway.close();
}
