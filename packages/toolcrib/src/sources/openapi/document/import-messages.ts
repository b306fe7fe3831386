import type { ErrorCode } from '../../../model/crib-error.ts';
import type { ImportReport } from '../../../model/import-report.ts';
import type { PollProfile } from '../../../model/poll-profile.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';

/** What the process that imports a document is given. */
export interface ImportWork {
  kind: 'work';
  text: string;
  url: string | null;
  /** What the source is called. */
  names: readonly string[];
  serverUrl: string | null;
  serverVariables: Record<string, string>;
  externalRefs: readonly string[];
  asyncPoll: Record<string, PollProfile>;
}

/** What it says. Tools come some at a time, so that reading them holds nobody up for long. */
export type ImportMessage =
  | { kind: 'load'; url: string }
  | { kind: 'tools'; tools: DiscoveredTool[] }
  | { kind: 'done'; title: string; version: string; report: ImportReport }
  | { kind: 'failed'; code: ErrorCode; message: string };

/** What it is answered. */
export type LoadAnswer = { kind: 'loaded'; url: string; text: string } | { kind: 'not-loaded'; url: string; failure: string };
