import { createHmac, timingSafeEqual } from 'node:crypto';
import type { BridgeKeys } from './bridge-keys.ts';

export interface FormTokens {
  of(uid: string): string;
  fits(uid: string, given: string | undefined): boolean;
}

/** [LOGIN-3] What the consent form has to send along: only the page that shows it can have read it. */
export function createFormTokens(keys: Pick<BridgeKeys, 'all'>): FormTokens {
  const made = (key: string, uid: string) => createHmac('sha256', key).update(`form ${uid}`).digest();
  return {
    of: (uid) => made(keys.all[0]?.cookieKey ?? '', uid).toString('base64url'),
    fits(uid, given = '') {
      const bytes = Buffer.from(given, 'base64url');
      return keys.all.some(({ cookieKey }) => bytes.length === 32 && timingSafeEqual(bytes, made(cookieKey, uid)));
    },
  };
}
