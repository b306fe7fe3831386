import type { Json } from './json.ts';
import type { Principal } from './principal.ts';

/** What an administrative change was about; everything that keeps a copy in memory listens for its own kind. */
export type ChangeTopic = 'source' | 'tool' | 'group' | 'policy' | 'secret' | 'connection' | 'call' | 'login';

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
  /** The application through which they did it, where one is known. */
  client: string | null;
  before: Json;
  after: Json;
  /** Where they did it from; null for what the server does itself. */
  address: string | null;
  /** What people call the actor, where their token said it. */
  actor_name: string | null;
}

export type ChangedBy = Pick<ChangeEvent, 'actor' | 'client'> & Partial<Pick<ChangeEvent, 'address' | 'actor_name'>>;

export function changedBy({ key, name, client, address }: Principal): ChangedBy {
  return { actor: key, client, address: address ?? null, actor_name: name };
}
