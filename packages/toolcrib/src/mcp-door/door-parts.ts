import type { Crib } from '../crib.ts';

/** What the door opens to. */
export type DoorParts = Pick<Crib, 'executor' | 'inventory' | 'artifacts' | 'requestRate' | 'supervisor' | 'seals' | 'mail'> & {
  store: Pick<Crib['store'], 'endedSessions'>;
};
