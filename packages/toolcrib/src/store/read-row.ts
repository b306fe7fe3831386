import type { z } from 'zod';
import { CribError } from '../model/crib-error.ts';
import type { Json } from '../model/json.ts';

/** A stored row, parsed with the model's schema: a row that was tampered with must not pass for a policy. */
export function readRow<Schema extends z.ZodType>(schema: Schema, table: string, id: string, row: unknown): z.output<Schema> {
  const parsed = schema.safeParse(row);
  if (parsed.success) return parsed.data;
  throw unreadable(table, id, parsed.error);
}

export function readJson(table: string, id: string, text: string): Json {
  return readStored(table, id, (): Json => JSON.parse(text));
}

/** For values without a schema: they were parsed before they were stored. */
export function readStored<Value>(table: string, id: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (cause) {
    throw unreadable(table, id, cause);
  }
}

function unreadable(table: string, id: string, cause: unknown): CribError {
  return new CribError('INTERNAL', `The row ${id} of the table ${table} cannot be read. Restore it from a backup, or delete it.`, {
    cause,
  });
}
