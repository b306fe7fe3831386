import { connectToGateway } from '../../../isolation/connect-to-gateway.ts';
import type { ImportReport } from '../../../model/import-report.ts';
import { createImportNotes } from '../../documents/import-notes.ts';
import { sendResult } from '../../documents/send-result.ts';
import { createToolBatches } from '../../documents/tool-batches.ts';
import { compileSchema } from './compile-schema.ts';
import type { ImportResult, ImportWork } from './import-messages.ts';
import { readSchema, type ReadSchema } from './read-schema.ts';
import { selectableTypes } from './selectable-types.ts';

/** The program that reads one schema in its own process, where a bad schema cannot block or crash the server. */
const gateway = connectToGateway((message) => void sendResult(gateway, () => resultOf(message as ImportWork)));

function resultOf(work: ImportWork): ImportResult {
  const schema = readSchema(work.text);
  return { report: work.tools ? compiled(schema, work) : null, types: selectableTypes(schema.table) ?? null };
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
