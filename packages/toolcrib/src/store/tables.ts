import type { Generated, Kysely } from 'kysely';
import type { AuditLedger } from '../model/audit.ts';
import type { CallRecord } from '../model/call.ts';
import type { ChangeEvent, ChangeTopic } from '../model/event.ts';
import type { Refusal } from '../model/refusal.ts';
import type { SourceRecord } from '../model/source.ts';
import type { ToolRecord } from '../model/tool.ts';

/** Where a row stands in its chain; null for rows from before there were chains. */
interface Chained {
  chain: number | null;
  /** Counted from 1 within the chain. */
  seq: number | null;
  /** Over the row, its place, and the mac of the row before. */
  mac: string | null;
}

/**
 * The tables as both databases keep them: JSON is text (so whatever JSON can say is stored as it was said, also where PostgreSQL's jsonb
 * would refuse it), times are epoch milliseconds, yes and no are 1 and 0.
 */
export interface Tables {
  sources: Omit<SourceRecord, 'enabled' | 'definition' | 'registration'> & {
    enabled: number;
    definition: string;
    registration: string | null;
  };
  tools: Omit<ToolRecord, 'discovered' | 'overrides' | 'approved'> & {
    name: string;
    discovered: string;
    overrides: string;
    approved: string | null;
  };
  groups: {
    id: string;
    name: string;
    description: string;
    selectors: string;
    include: string;
    exclude: string;
    managed_by: string | null;
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
    managed_by: string | null;
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
  calls: CallRecord & Chained;
  events: Omit<ChangeEvent, 'id' | 'before' | 'after'> & { id: Generated<number>; before: string; after: string } & Chained;
  refusals: Refusal & Chained;
  chains: {
    /** Counted from 1, without a gap. */
    id: number;
    ledger: AuditLedger;
    /** The key its macs are made with. */
    kid: string;
    opened_at: number;
    /** How far the chains before it had come, separated by spaces. */
    heads: string;
    /** Over all of the above and the mac of the chain before. */
    mac: string;
    /** Up to where retention has deleted its rows, the mac of the last of them, and the key and mac that vouch for both. */
    pruned_seq: number;
    pruned_mac: string;
    pruned_by: string;
  };
  /** [SEC-4] How far the journal of each server was brought in here. */
  journals: {
    server: string;
    /** The id by which a journal knows its database. */
    journal: string;
    /** Of the last entry that was brought in: where it ends, its number and its mac. */
    segment: number;
    offset: number;
    entry: number;
    mac: string;
    /** The key and mac that vouch for all of the above. */
    noted_by: string;
  };
  /** The newest change of a topic that retention has deleted: what came after it has greater ids. */
  revisions: { topic: ChangeTopic; id: number };
  calls_in_flight: {
    call_id: string;
    server: string;
    ends_by: number;
    /** As JSON: what its record will be if nothing more is ever heard of it. */
    record: string;
  };
  ended_sessions: { session: string; until: number };
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
    /** The answer as JSON, sealed; null while the call runs, empty where its content was not kept. */
    body: string | null;
    /** 0 while it is certain that nothing was sent: of a call that goes on after a crash, until it is noted. */
    begun: number;
    /** Of the body. Negative where it was kept before there were seals, and is not sealed yet. */
    bytes: number;
  };
  artifacts: {
    call_id: string;
    /** Counted from 1 within the call. */
    n: number;
    /** The key of the principal who made the call. */
    owner: string;
    /** What it is a part of: text, structured, image, audio, resource or content. */
    type: string;
    mime_type: string;
    /** Of what is in it. */
    bytes: number;
    created_at: number;
    /** Sealed. */
    data: Uint8Array;
    /** 0 where it was kept before there were seals, and is not sealed yet. */
    sealed: number;
  };
  documents: {
    source_id: string;
    /** Of the text that was imported last; null while none was. */
    sha256: string | null;
    /** [SEC-1] Where its secrets may go: what the first import named, as JSON; null while none did. */
    origins: string | null;
    /** What the last import came to, as JSON; null while there was none. */
    imported: string | null;
    updated_at: number;
    /** Of a document that was pasted; null where it is elsewhere. */
    text: string | null;
  };
  login_records: {
    /** What oidc-provider calls it: Client, Interaction, AuthorizationCode, RefreshToken, Grant and so on. */
    model: string;
    /** SHA-256 of its id, which is a secret for most of them. */
    id: string;
    payload: string;
    /** The grant that it belongs to and ends with. */
    grant_id: string | null;
    /** Of a code or a refresh token, which can be used once; of a client, since when somebody uses it. */
    consumed_at: number | null;
    used_at: number;
    expires_at: number | null;
  };
  login_grants: {
    /** The same as in the tokens. */
    id: string;
    /** The key of the principal who gave it. */
    owner: string;
    /** The session at the provider (`sid`), where it says so. */
    session: string | null;
    /** The client that it was given to. */
    client: string;
    /** One more with every change. */
    version: number;
    /** Until then one server is busy with the provider's refresh token, which may be usable only once. */
    locked_until: number;
    /** When the provider last said that it still holds. */
    checked_at: number;
    created_at: number;
    expires_at: number;
    /** The provider's tokens. */
    sealed: string;
  };
  login_keys: { id: string; created_at: number; sealed: string };
  durable_jobs: {
    /** Of the call. */
    id: string;
    /** How many starts of the server have resumed it. */
    attempts: number;
    /** Everything needed to resume it, sealed. */
    input: string;
  };
  durable_steps: {
    job_id: string;
    name: string;
    /** The result of the step, sealed. */
    result: string;
  };
}

/** The query builder, or one transaction of it. */
export type Queries = Kysely<Tables>;
