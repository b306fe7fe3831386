import { CribError } from '../model/crib-error.ts';

/** What a change was made for: `updated_at` of what somebody has looked at, where it is to be changed only as long as it is that. */
export interface Seen {
  seen?: number | undefined;
}

export function refuseOvertaken(current: { updated_at: number }, { seen }: Seen): void {
  if (seen === undefined || current.updated_at === seen) return;
  throw new CribError('CONFLICT', 'It was changed since it was read: read it again, and make the change to what is there now');
}
