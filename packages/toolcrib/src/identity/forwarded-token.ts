import { openInbound } from '../model/inbound-token.ts';
import { NoCredentialError } from '../model/named-errors.ts';
import type { Principal } from '../model/principal.ts';
import type { UpstreamSecret } from '../model/upstream-secret.ts';
import { isLoopbackHost } from '../net/is-loopback-host.ts';
import { inboundTokenOf } from './inbound-token-of.ts';

/**
 * [ID-4] The caller's own token, for a source that asks for it explicitly. Anyone who gets it can use it here and wherever else it is
 * accepted, so it is never sent unencrypted, whatever the source allows.
 */
export function forwardedToken(principal: Principal, address: string, now: number): UpstreamSecret {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:' && !isLoopbackHost(url?.hostname ?? '')) {
    throw new NoCredentialError('SERVICE_UNAVAILABLE', "A caller's token is sent over https only", { retryable: false });
  }
  return openInbound(inboundTokenOf(principal, now)) as string as UpstreamSecret;
}
