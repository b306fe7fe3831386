import type { Json } from './json.ts';

/** What an administrative change was about; everything that keeps a copy in memory listens for its own kind. */
export type ChangeTopic = 'source' | 'tool' | 'group' | 'policy' | 'secret' | 'connection' | 'call';

/** One administrative change, with what was there before and after. Its id is also the revision it made. */
export interface ChangeEvent {
  id: number;
  /** Epoch milliseconds. */
  at: number;
  /** Noun-verb: `policy-created`. */
  kind: string;
  topic: ChangeTopic;
  /** The id of what changed. */
  subject: string;
  /** Who did it: issuer and subject, or `system`. */
  actor: string;
  before: Json;
  after: Json;
}
