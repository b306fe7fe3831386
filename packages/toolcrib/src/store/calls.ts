import type { CallRecord, CallStatus } from '../model/call.ts';
import type { AppendRows } from './audit/chain-writer.ts';
import { ledgers, storedValues } from './audit/ledgers.ts';
import type { Queries } from './tables.ts';

export interface CallPage {
  /** Only calls that began before this one. */
  before?: string;
  limit: number;
  subject?: string;
  tool?: string;
  status?: CallStatus;
  issuer?: string;
}

const columns = ledgers.calls.columns.map(([name]) => name as keyof CallRecord);

export type Calls = ReturnType<typeof createCalls>;

export function createCalls(queries: Queries, append: AppendRows) {
  /** Those that are being made, by any server: what is known of them would be their record if they were never heard of again. */
  async function running({ before, limit, subject, tool, issuer }: CallPage): Promise<CallRecord[]> {
    let query = queries.selectFrom('calls_in_flight').select('record').orderBy('call_id', 'desc');
    if (before !== undefined) query = query.where('call_id', '<', before);
    const calls = (await query.execute()).map(({ record }) => Object.assign({ user_name: null }, JSON.parse(record) as CallRecord));
    return calls
      .filter(
        (call) =>
          (subject ?? call.subject) === call.subject && (tool ?? call.tool) === call.tool && (issuer ?? call.issuer) === call.issuer,
      )
      .slice(0, limit)
      .map((call) => Object.assign(call, { status: 'running' as const, error_code: null }));
  }

  return {
    /** Writes all of them in one commit and returns when they are durable. The caller collects what belongs together. */
    async append(records: readonly CallRecord[]): Promise<void> {
      if (records.length > 0) await append(records.map(valuesOf));
    },

    async get(callId: string): Promise<CallRecord | undefined> {
      return queries.selectFrom('calls').select(columns).where('call_id', '=', callId).executeTakeFirst();
    },

    /** The newest first. */
    async list({ before, limit, subject, tool, status, issuer }: CallPage): Promise<CallRecord[]> {
      if (status === 'running') return running({ before, limit, subject, tool, issuer });
      let query = queries.selectFrom('calls').select(columns).orderBy('call_id', 'desc').limit(limit);
      if (before !== undefined) query = query.where('call_id', '<', before);
      if (subject !== undefined) query = query.where('subject', '=', subject);
      if (tool !== undefined) query = query.where('tool', '=', tool);
      if (status !== undefined) query = query.where('status', '=', status);
      if (issuer !== undefined) query = query.where('issuer', '=', issuer);
      return query.execute();
    },
  };
}

function valuesOf(record: CallRecord) {
  const { started_at, duration_us } = record;
  // Whole already, but for a caller of the library that measures more finely.
  if (Number.isInteger(started_at) && Number.isInteger(duration_us)) return storedValues(ledgers.calls, record);
  return storedValues(ledgers.calls, { ...record, started_at: Math.round(started_at), duration_us: Math.round(duration_us) });
}
