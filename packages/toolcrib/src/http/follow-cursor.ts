import { CribError } from '../model/crib-error.ts';
import type { EndedPosition } from '../store/ended-calls.ts';

/** Opaque to clients: how far they have read in each chain of the record. */
export function encodeFollowCursor(position: EndedPosition): string {
  const places = [...position].map((place) => place.join(':'));
  return Buffer.from(['ended', ...places].join(' ')).toString('base64url');
}

const form = /^ended( \d{1,15}:\d{1,15})*$/;

export function decodeFollowCursor(cursor: string): EndedPosition {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (!form.test(text)) {
    throw new CribError('VALIDATION_ERROR', 'follow is not a follow_cursor that this list gave: start without it', { field: 'follow' });
  }
  const [, ...places] = text.split(' ');
  return new Map(places.map((place) => place.split(':').map(Number) as [number, number]));
}
