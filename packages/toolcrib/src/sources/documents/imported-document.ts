import type { Turn } from '../../isolation/isolation.ts';
import type { ImportReport } from '../../model/import-report.ts';
import type { DiscoveredTool } from '../../model/tool.ts';
import type { LoadedDocument } from './load-document.ts';

/** The result of importing a document. */
export interface ImportedDocument {
  /** The title that the document gives. */
  title: string;
  version: string;
  tools: DiscoveredTool[];
  report: ImportReport;
}

export type ImportDocument = (document: LoadedDocument, turn: Turn) => Promise<ImportedDocument>;
