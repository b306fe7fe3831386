import type { PollProfile } from '../../model/poll-profile.ts';

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

/** A request of that process: the text of another document. */
export interface LoadRequest {
  kind: 'load';
  url: string;
}

/** The reply to a `LoadRequest`. */
export type LoadAnswer = { kind: 'loaded'; url: string; text: string } | { kind: 'not-loaded'; url: string; failure: string };
