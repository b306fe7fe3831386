import { extname } from 'node:path';
import { importInProcess, type ImportLimits } from '../documents/import-in-process.ts';
import type { ImportResult, ImportWork } from './schema/import-messages.ts';

// The source runs as TypeScript, the package as JavaScript: the program has the same extension as this file.
const program = new URL(`./schema/import-program${extname(import.meta.url)}`, import.meta.url);

/** Turns a schema into tools, in a separate process. Rejects with `VALIDATION_ERROR` if the text is not a schema. */
export function importSchema({ isolation, turn, timeLimitMs, memoryLimitMb, ...work }: ImportWork & ImportLimits) {
  return importInProcess<ImportResult>({ isolation, turn, timeLimitMs, memoryLimitMb, program, work });
}
