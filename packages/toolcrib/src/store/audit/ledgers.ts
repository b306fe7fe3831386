import type { AuditLedger } from '../../model/audit.ts';
import type { CallRecord } from '../../model/call.ts';
import type { ChangeEvent } from '../../model/event.ts';
import type { Refusal } from '../../model/refusal.ts';
import type { StoredValue } from '../stored-values.ts';

type ColumnType = 'text' | 'integer';

/** A table whose rows are chained, and the columns a row's mac covers, in this order for ever. */
export interface Ledger {
  readonly name: AuditLedger;
  readonly table: 'calls' | 'events' | 'refusals';
  readonly id: string;
  readonly time: string;
  readonly columns: readonly (readonly [name: string, type: ColumnType])[];
  /**
   * How many columns there were when the first row was chained. Those after them came later, and new ones are added at the end: the mac
   * covers them up to the last that is not null, so that earlier rows still verify.
   */
  readonly firstColumns: number;
}

/** The values of each row, then its chain, its place in it and its mac. */
export type InsertRows = (rows: readonly (readonly StoredValue[])[]) => Promise<void>;

const callColumns: Record<keyof CallRecord, ColumnType> = {
  call_id: 'text',
  started_at: 'integer',
  duration_us: 'integer',
  issuer: 'text',
  subject: 'text',
  client: 'text',
  tool_id: 'text',
  tool: 'text',
  source_id: 'text',
  definition_hash: 'text',
  policies: 'text',
  policy_revision: 'integer',
  status: 'text',
  error_code: 'text',
  user_name: 'text',
  error_origin: 'text',
  door: 'text',
  agent: 'text',
};

const changeColumns: Record<keyof ChangeEvent, ColumnType> = {
  id: 'integer',
  at: 'integer',
  kind: 'text',
  topic: 'text',
  subject: 'text',
  actor: 'text',
  client: 'text',
  before: 'text',
  after: 'text',
  address: 'text',
  actor_name: 'text',
};

const refusalColumns: Record<keyof Refusal, ColumnType> = {
  id: 'text',
  at: 'integer',
  kind: 'text',
  code: 'text',
  reason: 'text',
  issuer: 'text',
  subject: 'text',
  client: 'text',
  address: 'text',
  method: 'text',
  route: 'text',
  request_id: 'text',
  count: 'integer',
  user_name: 'text',
};

export const ledgers: Readonly<Record<AuditLedger, Ledger>> = {
  calls: { name: 'calls', table: 'calls', id: 'call_id', time: 'started_at', columns: Object.entries(callColumns), firstColumns: 14 },
  changes: { name: 'changes', table: 'events', id: 'id', time: 'at', columns: Object.entries(changeColumns), firstColumns: 9 },
  refusals: { name: 'refusals', table: 'refusals', id: 'id', time: 'at', columns: Object.entries(refusalColumns), firstColumns: 13 },
};
