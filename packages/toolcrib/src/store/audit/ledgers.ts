import type { AuditLedger } from '../../model/audit.ts';
import type { CallRecord } from '../../model/call.ts';
import type { ChangeEvent } from '../../model/event.ts';
import type { Refusal } from '../../model/refusal.ts';
import { plainText } from '../plain-text.ts';

type ColumnType = 'text' | 'integer';

/** A table whose rows are chained, and the columns a row's mac covers, in this order for ever. */
export interface Ledger {
  readonly name: AuditLedger;
  readonly table: 'calls' | 'events' | 'refusals';
  readonly id: string;
  readonly time: string;
  readonly columns: readonly (readonly [name: string, type: ColumnType])[];
  /** Came later: covered where it is there, so that what was written before is still as it was. It is the last of the columns. */
  readonly later?: string;
}

export type StoredValue = string | number | null;

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
};

export const ledgers: Readonly<Record<AuditLedger, Ledger>> = {
  calls: { name: 'calls', table: 'calls', id: 'call_id', time: 'started_at', columns: Object.entries(callColumns) },
  changes: { name: 'changes', table: 'events', id: 'id', time: 'at', columns: Object.entries(changeColumns), later: 'address' },
  refusals: { name: 'refusals', table: 'refusals', id: 'id', time: 'at', columns: Object.entries(refusalColumns) },
};

/** What a row's mac is over: the same for what is about to be written and for what was read. */
export function storedValues({ columns, later }: Ledger, row: object): StoredValue[] {
  const values: StoredValue[] = [];
  for (const column of columns) {
    const value = (row as Record<string, StoredValue>)[column[0]] as StoredValue;
    if (value === null && column[0] === later) continue;
    values.push(typeof value === 'string' ? plainText(value) : value);
  }
  return values;
}
