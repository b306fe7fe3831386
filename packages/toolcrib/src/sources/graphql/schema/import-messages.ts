import type { ErrorCode } from '../../../model/crib-error.ts';
import type { ImportReport } from '../../../model/import-report.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';
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

/** The output of that process. Tools come in batches, so that parsing them never blocks the server for long. */
export type ImportMessage =
  | { kind: 'tools'; tools: DiscoveredTool[] }
  | { kind: 'done'; report: ImportReport | null; types: SelectableTypes | null }
  | { kind: 'failed'; code: ErrorCode; message: string };
