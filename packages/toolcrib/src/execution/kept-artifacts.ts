import type { Principal } from '../model/principal.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { ArtifactRow } from '../store/artifacts.ts';
import type { Store } from '../store/store.ts';
import type { Artifact } from './artifact-of.ts';
import type { RunningCall } from './running-call.ts';
import { openArtifact, sealArtifact } from './sealed-artifact.ts';

export interface KeptArtifacts {
  /** False where they could not be kept; the answer is cut all the same. */
  keep(call: RunningCall, artifacts: readonly Artifact[]): Promise<boolean>;
  /** [BFF-5] The owner's only. */
  find(principal: Principal, callId: string, n: number): Promise<ArtifactRow | undefined>;
}

interface KeptArtifactsInput {
  store: Pick<Store, 'artifacts'>;
  keyRing: KeyRing;
  /** For each principal and with their kept answers, so that one hostile server cannot fill the disk; the oldest make room for the newest. */
  bytesPerPrincipal: number;
  warn(message: string): void;
}

/** [EXEC-7] Parts of answers that were too large, stored whole. */
export function createKeptArtifacts({ store, keyRing, bytesPerPrincipal, warn }: KeptArtifactsInput): KeptArtifacts {
  return {
    async keep({ callId, principal }, artifacts) {
      const total = artifacts.reduce((sum, { data }) => sum + data.length, 0);
      if (total > bytesPerPrincipal) return false;
      const created_at = Date.now();
      const rows = artifacts.map(({ type, mime_type, data }, index) => {
        const row = { call_id: callId, n: index + 1, owner: principal.key, type, mime_type, bytes: data.length, created_at, sealed: 1 };
        return { ...row, data: sealArtifact(keyRing, data, row) };
      });
      try {
        await store.artifacts.keep(rows, bytesPerPrincipal);
        return true;
      } catch (error) {
        warn(`The rest of the answer of call ${callId} could not be kept: ${String(error)}`);
        return false;
      }
    },
    async find(principal, callId, n) {
      const row = await store.artifacts.get(callId, n, principal.key);
      const data = row && openArtifact(keyRing, row);
      return data && { ...row, data };
    },
  };
}
