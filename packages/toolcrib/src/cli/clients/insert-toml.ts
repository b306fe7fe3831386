import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'smol-toml';
import { CribError } from '../../model/crib-error.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import type { Insertion } from './insertion.ts';

/** Adds an entry to a table of a TOML file at its end, and leaves everything else as it is. */
export function insertToml(text: string, { table, name, entry }: Insertion): string {
  const before = parsed(text);
  const servers = before[table] ?? {};
  if (!isObject(servers)) throw broken(`its ${table} is no table`);
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  const added = stringify({ [table]: { [name]: entry } })
    .trim()
    .replaceAll('\n', lineBreak);
  const separator = text === '' ? '' : text.endsWith('\n') ? lineBreak : lineBreak + lineBreak;
  const after = `${text}${separator}${added}${lineBreak}`;
  const wanted = { ...before, [table]: { ...servers, [name]: entry } };
  // A table in braces cannot be continued at the end.
  if (isDeepStrictEqual(plain(parsed(after)), plain(wanted))) return after;
  throw broken('the entry cannot be added without changing something else');
}

/** The entries of the table. */
export function tomlEntries(text: string, table: string): JsonObject {
  const entries = parsed(text)[table];
  return isObject(entries) ? entries : {};
}

function parsed(text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    throw broken(String((cause as Error).message.split('\n', 1)[0]), cause);
  }
}

/** The parser makes tables without a prototype. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? `${inner}n` : inner)));
}

function broken(why: string, cause?: unknown): CribError {
  return new CribError('VALIDATION_ERROR', `The file was left as it is: ${why}`, { cause });
}
