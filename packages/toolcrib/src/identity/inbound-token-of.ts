import type { InboundToken } from '../model/inbound-token.ts';
import { NoCredentialError } from '../model/named-errors.ts';
import type { Principal } from '../model/principal.ts';

/** [ID-5] The caller's token until it expires, which may be while a call waits. */
export function inboundTokenOf({ token, expiresAt }: Principal, now: number): InboundToken {
  if (token === null) {
    throw new NoCredentialError('UNAUTHENTICATED', 'This source is called as the calling user, and there is none', { retryable: false });
  }
  if (now < expiresAt) return token;
  throw new NoCredentialError('UNAUTHENTICATED', 'Your token expired before the call ended: get a new one, and call again', {
    retryable: false,
  });
}
