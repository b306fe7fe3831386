import type { ErrorCode } from '../../../model/crib-error.ts';
import type { PollProfile } from '../../../model/poll-profile.ts';

/** What the thread that imports a document is given. */
export interface ImportWork {
  text: string;
  url: string | null;
  serverUrl: string | null;
  serverVariables: Record<string, string>;
  externalRefs: readonly string[];
  asyncPoll: Record<string, PollProfile>;
}

/** What it says. Tools come as JSON, some at a time: text crosses between threads at no cost, and reading it holds nobody up for long. */
export type ImportMessage =
  | { kind: 'load'; url: string }
  | { kind: 'tools'; json: string }
  | { kind: 'done'; json: string }
  | { kind: 'failed'; code: ErrorCode; message: string };

/** What it is answered. */
export type LoadAnswer = { url: string; text: string } | { url: string; failure: string };
