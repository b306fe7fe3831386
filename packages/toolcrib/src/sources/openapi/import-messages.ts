import type { ErrorCode } from '../../model/crib-error.ts';
import type { ImportReport } from '../../model/import-report.ts';
import type { PollProfile } from '../../model/poll-profile.ts';
import type { DiscoveredTool } from '../../model/tool.ts';

/** The input of the process that imports a document. */
export interface ImportWork {
  kind: 'work';
  text: string;
  url: string | null;
  /** The source's names. */
  names: readonly string[];
  serverUrl: string | null;
  serverVariables: Record<string, string>;
  externalRefs: readonly string[];
  asyncPoll: Record<string, PollProfile>;
}

/** A message from the import process. Tools arrive in batches, so that parsing them never blocks the gateway for long. */
export type ImportMessage =
  | { kind: 'load'; url: string }
  | { kind: 'tools'; tools: DiscoveredTool[] }
  | { kind: 'done'; title: string; version: string; report: ImportReport }
  | { kind: 'failed'; code: ErrorCode; message: string };

/** The reply to a `load` message. */
export type LoadAnswer = { kind: 'loaded'; url: string; text: string } | { kind: 'not-loaded'; url: string; failure: string };
