import { isDeepStrictEqual } from 'node:util';
import { CribError } from '../../model/crib-error.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { parseJsonc, plainJson } from '../../model/parse-jsonc.ts';
import type { Insertion } from './insertion.ts';

/** Adds an entry to a table of a JSON file, and leaves every other character where it is: comments, order and indentation. */
export function insertJson(text: string, { table, name, entry }: Insertion): string {
  if (text.trim() === '') return `${JSON.stringify({ [table]: { [name]: entry } }, null, 2)}\n`;
  const before = parsed(text);
  if (!isObject(before)) throw broken('its content is no JSON object');
  const servers = before[table] ?? {};
  if (!isObject(servers)) throw broken(`its ${table} is no object`);
  const after = insertedText(text, { table, name, entry }, Object.hasOwn(before, table));
  const wanted = { ...before, [table]: { ...servers, [name]: entry } };
  // A name that stands there twice, or whatever else we did not understand.
  if (isDeepStrictEqual(parsed(after), wanted)) return after;
  throw broken('the entry cannot be added without changing something else');
}

/** The entries of the table. */
export function jsonEntries(text: string, table: string): JsonObject {
  const content = text.trim() === '' ? {} : parsed(text);
  const entries = isObject(content) ? content[table] : undefined;
  return isObject(entries) ? entries : {};
}

function parsed(text: string): unknown {
  try {
    return parseJsonc(text);
  } catch (cause) {
    throw broken((cause as Error).message, cause);
  }
}

function broken(why: string, cause?: unknown): CribError {
  return new CribError('VALIDATION_ERROR', `The file was left as it is: ${why}`, { cause });
}

function insertedText(text: string, { table, name, entry }: Insertion, hasTable: boolean): string {
  const plain = plainJson(text);
  const offset = text.length - plain.length;
  const root = plain.indexOf('{');
  const open = hasTable ? valueOf(plain, root, table) : root;
  const unit = /\n([ \t]+)"/.exec(plain)?.[1]?.slice(0, 8) ?? '  ';
  const depth = hasTable ? 2 : 1;
  const [key, value] = hasTable ? [name, entry] : [table, { [name]: entry }];
  const indent = unit.repeat(depth);
  const member = `${JSON.stringify(key)}: ${JSON.stringify(value, null, unit)}`.replaceAll('\n', `\n${indent}`);
  const at = open + 1 + offset;
  const rest = text.slice(at);
  const isEmpty = plain
    .slice(open + 1)
    .trimStart()
    .startsWith('}');
  const onNextLine = /^[ \t]*\r?\n/.test(rest);
  const end = isEmpty ? (onNextLine ? '' : `\n${unit.repeat(depth - 1)}`) : onNextLine ? ',' : `,\n${indent}`;
  const added = `\n${indent}${member}${end}`;
  return text.slice(0, at) + (text.includes('\r\n') ? added.replaceAll('\n', '\r\n') : added) + rest;
}

/** Where the value of a member begins, in the object that begins at `open`. The text is valid JSON. */
function valueOf(plain: string, open: number, wanted: string): number {
  let depth = 0;
  let found = -1;
  for (const { index, 0: token } of plain.slice(open).matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    const at = open + index;
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (depth === 1 && JSON.parse(token) === wanted && /^\s*:/.test(plain.slice(at + token.length, at + token.length + 1000)))
      found = plain.indexOf('{', at + token.length);
    if (found >= 0 || depth === 0) break;
  }
  return found;
}
