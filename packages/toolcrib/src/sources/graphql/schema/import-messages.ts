import type { ImportReport } from '../../../model/import-report.ts';
import type { SelectionLimits } from './default-selection.ts';
import type { SelectableTypes } from './selectable-types.ts';

/** The input of the process that reads a schema. */
export interface ImportWork {
  text: string;
  endpoint: string;
  limits: SelectionLimits;
  /** False if only the types are needed, to check a caller's selection. */
  tools: boolean;
}

/** The output of that process, beside the tools. */
export interface ImportResult {
  /** Null if no tools were requested. */
  report: ImportReport | null;
  /** The types that a caller's selection is checked against; null if they are too large to keep. */
  types: SelectableTypes | null;
}
