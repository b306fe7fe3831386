import type { CallRecord, CallStatus } from '../model/call.ts';
import type { Origin } from '../model/origin.ts';

/** Which calls are looked for; absent fields match every call. */
export interface CallFilter {
  issuer?: string;
  subject?: string;
  /** A subject, or what people call somebody. */
  user?: string;
  tool?: string;
  sourceId?: string;
  /** Any of them. */
  statuses?: readonly CallStatus[];
  /** Who caused the failure: any of them. */
  origins?: readonly Origin[];
  /** Epoch milliseconds, by the time in their ids: from this one on, and up to but without that one. */
  from?: number;
  until?: number;
}

/** The same filter for calls that are not in the table yet, where the database would use an index. */
export function fitsFilter(call: CallRecord, filter: CallFilter): boolean {
  const { user, statuses, origins } = filter;
  const { after, before } = idsWithin(filter);
  return (
    (filter.issuer ?? call.issuer) === call.issuer &&
    (filter.subject ?? call.subject) === call.subject &&
    (user === undefined || user === call.subject || user === call.user_name) &&
    (filter.tool ?? call.tool) === call.tool &&
    (filter.sourceId ?? call.source_id) === call.source_id &&
    (statuses === undefined || statuses.includes(call.status)) &&
    (origins === undefined || (call.error_origin !== null && origins.includes(call.error_origin))) &&
    (after === undefined || call.call_id >= after) &&
    (before === undefined || call.call_id < before)
  );
}

/** RFC 9562 §5.7: an id begins with its time, so that a time is a range of ids and needs no index of its own. */
export function idsWithin({ from, until }: CallFilter): { after?: string; before?: string } {
  return { ...(from === undefined ? {} : { after: firstIdAt(from) }), ...(until === undefined ? {} : { before: firstIdAt(until) }) };
}

/** The last moment that an id can say. */
const lastTime = 2 ** 48 - 1;

function firstIdAt(epochMs: number): string {
  const time = Math.min(epochMs, lastTime).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}
