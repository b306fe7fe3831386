import { CompiledQuery } from 'kysely';
import type { CallRecord } from '../model/call.ts';
import { plainText } from './plain-text.ts';
import type { Queries } from './tables.ts';

const columns = `call_id, started_at, duration_us, issuer, subject, client, tool_id, tool, source_id, definition_hash,
  policies, policy_revision, status, error_code`;

/** One text for batches of any size: the rows travel as one JSON parameter. */
const insertSql = `insert into calls (${columns}) select ${columns} from jsonb_to_recordset($1::jsonb) as record (
  call_id text, started_at bigint, duration_us bigint, issuer text, subject text, client text, tool_id text, tool text, source_id text,
  definition_hash text, policies text, policy_revision bigint, status text, error_code text) on conflict do nothing`;

/** Escapes that jsonb refuses: NUL, and surrogates (`JSON.stringify` escapes only those without their other half). */
const refusedEscape = /\\u(?:0000|d[89a-f])/;

export function appendToPostgres(queries: Queries): (records: readonly CallRecord[]) => Promise<void> {
  return async (records) => {
    const rows = records.map((record) => ({
      ...record,
      started_at: Math.round(record.started_at),
      duration_us: Math.round(record.duration_us),
    }));
    let json = JSON.stringify(rows);
    // Looked for in the whole batch at once: almost never there, and cheaper than looking at each text.
    if (refusedEscape.test(json))
      json = JSON.stringify(rows, (_name, value: unknown) => (typeof value === 'string' ? plainText(value) : value));
    await queries.executeQuery(CompiledQuery.raw(insertSql, [json]));
  };
}
