import type { ImportReport } from '../../../model/import-report.ts';
import type { Skipped } from './operations.ts';

const mostSkipped = 10_000;
const mostWarnings = 1000;

/** What is noted while a document is imported, by the operation that is being looked at. */
export interface ImportNotes {
  readonly skipped: ImportReport['skipped'];
  readonly warnings: ImportReport['warnings'];
  /** Notes are of the operation that is called so from now on; undefined for the document as a whole. */
  begin(operation?: string): void;
  warn(message: string): void;
  skip(skipped: Skipped): void;
  /** Says how much more there was than is listed. */
  close(): void;
}

export function createImportNotes(): ImportNotes {
  const skipped: ImportReport['skipped'] = [];
  const warnings: ImportReport['warnings'] = [];
  const said = new Set<string>();
  let label: string | null = null;
  let moreSkipped = 0;
  let moreWarnings = 0;

  return {
    skipped,
    warnings,
    begin(operation) {
      label = operation ?? null;
      said.clear();
    },
    warn(message) {
      if (said.has(message)) return;
      said.add(message);
      if (warnings.length < mostWarnings) warnings.push({ operation: label, message: message.slice(0, 1000).toWellFormed() });
      else moreWarnings++;
    },
    skip({ operation, reason }) {
      if (skipped.length < mostSkipped) skipped.push({ operation, reason: reason.slice(0, 1000).toWellFormed() });
      else moreSkipped++;
    },
    close() {
      if (moreSkipped > 0) skipped.push({ operation: `${moreSkipped} more`, reason: 'They are too many to be listed' });
      if (moreWarnings > 0) warnings.push({ operation: null, message: `There are ${moreWarnings} more warnings` });
    },
  };
}
