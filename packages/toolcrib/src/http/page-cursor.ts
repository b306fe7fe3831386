import { CribError } from '../model/crib-error.ts';

/** A cursor is opaque to clients and only readable by the list that made it. */
export function encodeCursor(position: string | number): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

export function decodeCursor(cursor: string | undefined, type: 'string'): string | undefined;
export function decodeCursor(cursor: string | undefined, type: 'number'): number | undefined;
export function decodeCursor(cursor: string | undefined, type: 'string' | 'number'): unknown {
  if (cursor === undefined) return undefined;
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (type === 'string' ? typeof position === 'string' : Number.isSafeInteger(position) && Number(position) >= 0) return position;
  } catch {
    // Falls through to the one answer for every cursor that is not ours.
  }
  throw new CribError('VALIDATION_ERROR', 'cursor is not one that this list gave: start without it', { field: 'cursor' });
}
