import type { KeyRing } from '../secrets/key-ring.ts';
import { openBytes, sealBytes, type SealedPlace } from '../secrets/seal.ts';
import type { ArtifactRow } from '../store/artifacts.ts';

type Place = Pick<ArtifactRow, 'call_id' | 'n' | 'owner' | 'mime_type'>;

/** [SEC-3] An artifact as it is stored, bound to its call, its owner and its type. */
export function sealArtifact(keyRing: KeyRing, data: Uint8Array, row: Place): Buffer {
  return sealBytes(keyRing, data, placeOf(row));
}

/** Undefined where it was sealed with a key that is gone. */
export function openArtifact(keyRing: KeyRing, row: Place & Pick<ArtifactRow, 'data'>): Buffer | undefined {
  return openBytes(keyRing, row.data, placeOf(row));
}

function placeOf({ call_id, n, owner, mime_type }: Place): SealedPlace {
  return { id: call_id, field: `artifact ${n} ${mime_type} of ${owner}` };
}
