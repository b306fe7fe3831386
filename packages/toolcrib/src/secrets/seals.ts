import type { KeyRing } from './key-ring.ts';
import { open, seal, type SealedPlace } from './seal.ts';

/** Seals texts that somebody else keeps for us: a client, until its next request. */
export interface Seals {
  seal(text: string, place: SealedPlace): string;
  /** Undefined where it was changed, or sealed for another place. */
  open(sealed: string, place: SealedPlace): string | undefined;
}

export function createSeals(keyRing: KeyRing): Seals {
  return {
    seal: (text, place) => seal(keyRing, text, place),
    open(sealed, place) {
      try {
        return open(keyRing, sealed, place);
      } catch {
        return undefined;
      }
    },
  };
}
