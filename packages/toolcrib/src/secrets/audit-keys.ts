import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { ChainKeys } from '../store/audit/mac.ts';
import type { KeyRing, SealingKey } from './key-ring.ts';

const keyBytes = 32;

/**
 * [SEC-4] The keys that chain the record, derived from those that seal the secrets: nobody has to keep further ones, and neither can be
 * used in place of the other. An older key has to stay in the ring as long as there are rows that were chained with it.
 */
export function createAuditKeys(keyRing: KeyRing): ChainKeys {
  const derivedKeys = new Map<string, KeyObject>();

  function derived({ kid, key }: SealingKey): KeyObject {
    let found = derivedKeys.get(kid);
    if (found === undefined) {
      // RFC 5869 §3.2: the info says what the key is for.
      found = createSecretKey(Buffer.from(hkdfSync('sha256', key, '', 'toolcrib audit chain v1', keyBytes)));
      derivedKeys.set(kid, found);
    }
    return found;
  }

  return {
    newest: { kid: keyRing.newest.kid, key: derived(keyRing.newest) },
    find(kid) {
      const sealing = keyRing.find(kid);
      return sealing && derived(sealing);
    },
  };
}
