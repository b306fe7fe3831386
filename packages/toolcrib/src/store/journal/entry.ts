import type { KeyObject } from 'node:crypto';
import type { CallRecord } from '../../model/call.ts';
import { hmac } from '../audit/hmac.ts';
import { ledgers } from '../audit/ledgers.ts';
import { plainText, type StoredValue } from '../stored-values.ts';

/** What was written at once: the records of the calls that ended in one turn of the event loop. */
export interface Entry {
  /** Counted from 1 over all segments of a journal. */
  n: number;
  /** The mac of the entry before. */
  previous: string;
  mac: string;
  /** The values of each call, in the order of the columns. */
  rows: StoredValue[][];
}

/** Of a mac as text. */
export const macLength = 43;
const newline = 0x0a;
/** No row and no note begins with this word, so none of their macs can stand for that of an entry. */
const beginning = /^entry (\d{1,15}) ([\w-]{43}) \[/;
const longestBeginning = 80;

/** The values of a record as a JSON list, in the order of the columns of the ledger, which is that of its rows for ever. */
export function rowText(call: CallRecord): string {
  const values = [
    call.call_id,
    call.started_at,
    call.duration_us,
    call.issuer,
    call.subject,
    call.client,
    call.tool_id,
    call.tool,
    call.source_id,
    call.definition_hash,
    call.policies,
    call.policy_revision,
    call.status,
    call.error_code,
    call.user_name,
    call.error_origin,
  ];
  // What is not there at the end is null.
  if (call.door !== null) values.push(call.door, call.agent);
  return JSON.stringify(values);
}

/**
 * One line: its number, the mac of the entry before, the rows as JSON, in which there is no line break, and the mac of all that. Returns
 * how many bytes of the buffer it takes, or undefined where there is not enough room.
 */
export function writeEntry(key: KeyObject, buffer: Buffer, { n, previous }: Pick<Entry, 'n' | 'previous'>, rows: string) {
  const text = `entry ${n} ${previous} [${rows}] `;
  // A character takes three bytes at most.
  if (text.length * 3 + macLength + 1 > buffer.length) return undefined;
  const end = buffer.write(text);
  const mac = hmac(key, buffer.subarray(0, end));
  buffer.write(mac, end, 'latin1');
  buffer[end + macLength] = newline;
  return { length: end + macLength + 1, mac };
}

/** Reads a line, without its line break; undefined where it is not as it was written. */
export function parseEntry(key: KeyObject, line: Buffer): Entry | undefined {
  const [, n, previous] = beginning.exec(line.toString('latin1', 0, longestBeginning)) ?? [];
  if (n === undefined || previous === undefined) return undefined;
  const end = line.length - macLength;
  const mac = line.toString('latin1', end);
  if (hmac(key, line.subarray(0, end)) !== mac) return undefined;
  const rows = JSON.parse(line.toString('utf8', line.indexOf('['), end)) as StoredValue[][];
  return { n: Number(n), previous, mac, rows: rows.map(plainRow) };
}

/** Whether somebody has changed an entry: what a write left unfinished has no end, or zeros where nothing reached the disk. */
export function looksChanged(line: Buffer): boolean {
  return beginning.test(line.toString('latin1', 0, longestBeginning)) && !line.includes(0);
}

/** As the database stores it. Columns that came later are null in the journal of an earlier version. */
function plainRow(row: readonly StoredValue[]): StoredValue[] {
  return ledgers.calls.columns.map((_column, index) => {
    const value = row[index] ?? null;
    if (typeof value === 'string') return plainText(value);
    // Whole already, but for a caller of the library that measures more finely.
    return typeof value === 'number' ? Math.round(value) : value;
  });
}
