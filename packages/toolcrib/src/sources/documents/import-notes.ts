import type { ImportReport } from '../../model/import-report.ts';

const mostSkipped = 10_000;
const mostWarnings = 1000;

/** Collects the warnings and skipped operations of an import. */
export interface ImportNotes {
  readonly skipped: ImportReport['skipped'];
  readonly warnings: ImportReport['warnings'];
  /** Attributes the warnings that follow to this operation; undefined for the document as a whole. */
  begin(operation?: string): void;
  warn(message: string): void;
  skip(skipped: ImportReport['skipped'][number]): void;
  /** Adds how many entries the lists leave out. */
  close(): void;
}

export function createImportNotes(): ImportNotes {
  const skipped: ImportReport['skipped'] = [];
  const warnings: ImportReport['warnings'] = [];
  const warned = new Set<string>();
  let label: string | null = null;
  let moreSkipped = 0;
  let moreWarnings = 0;

  return {
    skipped,
    warnings,
    begin(operation) {
      label = operation ?? null;
      warned.clear();
    },
    warn(message) {
      if (warned.has(message)) return;
      warned.add(message);
      if (warnings.length < mostWarnings) warnings.push({ operation: label, message: message.slice(0, 1000).toWellFormed() });
      else moreWarnings++;
    },
    skip({ operation, reason }) {
      if (skipped.length < mostSkipped) skipped.push({ operation, reason: reason.slice(0, 1000).toWellFormed() });
      else moreSkipped++;
    },
    close() {
      if (moreSkipped > 0) skipped.push({ operation: `${moreSkipped} more`, reason: 'Too many to list' });
      if (moreWarnings > 0) warnings.push({ operation: null, message: `There are ${moreWarnings} more warnings` });
    },
  };
}
