import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import type { ChainKeys, Mac } from '../store/audit/mac.ts';
import type { KeyRing } from './key-ring.ts';

const keyBytes = 32;

/**
 * [SEC-4] What the record is chained with, derived from the keys that seal the secrets: nobody has to keep further ones, and neither can be
 * used in place of the other. An older key has to stay in the ring as long as there are rows that were chained with it.
 */
export function createAuditKeys(keyRing: KeyRing): ChainKeys {
  const macs = new Map<string, Mac>();
  return {
    newest: keyRing.newest.kid,
    find(kid) {
      const known = macs.get(kid);
      if (known !== undefined) return known;
      const sealing = keyRing.find(kid);
      if (sealing === undefined) return undefined;
      // RFC 5869 §3.2: the info says what the key is for.
      const key = createSecretKey(Buffer.from(hkdfSync('sha256', sealing.key, '', 'toolcrib audit chain v1', keyBytes)));
      const mac: Mac = (text) => createHmac('sha256', key).update(text).digest('base64url');
      macs.set(kid, mac);
      return mac;
    },
  };
}
