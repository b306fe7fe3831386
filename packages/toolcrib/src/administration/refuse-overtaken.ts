import { CribError } from '../model/crib-error.ts';

/** `seen`: the `updated_at` that the caller read. The change is made only if it is still current; unconditionally if it is left out. */
export interface Seen {
  seen?: number | undefined;
}

export function refuseOvertaken(current: { updated_at: number }, { seen }: Seen): void {
  if (seen === undefined || current.updated_at === seen) return;
  throw new CribError('CONFLICT', 'This was changed since you read it: read it again, and repeat the change on the new version');
}
