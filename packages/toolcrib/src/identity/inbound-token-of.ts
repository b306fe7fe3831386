import type { InboundToken } from '../model/inbound-token.ts';
import { NoCredentialError } from '../model/named-errors.ts';
import type { Principal } from '../model/principal.ts';

/** [ID-5] The caller's token while it lasts: a call that had to wait may have outlived it. */
export function inboundTokenOf({ token, expiresAt }: Principal, now: number): InboundToken {
  if (token === null) {
    throw new NoCredentialError('UNAUTHENTICATED', 'This source is called as the user who calls, and there is none', { retryable: false });
  }
  if (now < expiresAt) return token;
  throw new NoCredentialError('UNAUTHENTICATED', 'Your token has ended before the call did: get a new one, and call again', {
    retryable: false,
  });
}
