import type { Generated, Kysely } from 'kysely';
import type { CallRecord } from '../model/call.ts';
import type { ChangeEvent } from '../model/event.ts';
import type { SourceRecord } from '../model/source.ts';
import type { ToolRecord } from '../model/tool.ts';

/**
 * The tables as both databases keep them: JSON is text (so whatever JSON can say is stored as it was said, also where PostgreSQL's jsonb
 * would refuse it), times are epoch milliseconds, yes and no are 1 and 0.
 */
export interface Tables {
  sources: Omit<SourceRecord, 'enabled' | 'definition'> & { enabled: number; definition: string };
  tools: Omit<ToolRecord, 'discovered' | 'overrides'> & { name: string; discovered: string; overrides: string };
  groups: {
    id: string;
    name: string;
    description: string;
    selectors: string;
    include: string;
    exclude: string;
    created_at: number;
    updated_at: number;
  };
  policies: {
    id: string;
    name: string;
    description: string;
    enabled: number;
    matchers: string;
    groups: string;
    created_at: number;
    updated_at: number;
  };
  secrets: { id: string; name: string; sealed: string; created_at: number; updated_at: number };
  connections: {
    id: string;
    source_id: string;
    /** The key of the principal who made it, or `source` for the one that the source has for itself. */
    owner: string;
    /** One more with every change. */
    version: number;
    /** Until then one server is busy with the refresh token, which can be used only once. */
    locked_until: number;
    /** Of an authorization that was begun and not finished; null where there is none. */
    state_hash: string | null;
    state_expires_at: number | null;
    /** Since when there are tokens; null while there are none. */
    connected_at: number | null;
    created_at: number;
    updated_at: number;
    sealed: string;
  };
  calls: CallRecord;
  events: Omit<ChangeEvent, 'id' | 'before' | 'after'> & { id: Generated<number>; before: string; after: string };
  answers: {
    call_id: string;
    /** The key of the principal who made the call. */
    owner: string;
    idempotency_key: string | null;
    /** What was asked, so that the same key with another request can be told apart. */
    request_hash: string | null;
    tool_id: string;
    tool: string;
    deadline_at: number;
    created_at: number;
    expires_at: number;
    /** The answer as JSON; null while the call runs. */
    body: string | null;
  };
}

/** The query builder, or one transaction of it. */
export type Queries = Kysely<Tables>;
