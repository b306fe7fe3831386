import type { GuardedFetchOptions } from '../../net/guarded-fetch.ts';
import { isLoopbackHost } from '../../net/is-loopback-host.ts';
import type { OAuthSettings } from './oauth-settings.ts';

/** [SEC-1] Only a server on this machine, or one that the operator named, may lead to addresses of this machine. */
export function fetchRules({ serverUrl, authorizationServer, allowInsecure }: OAuthSettings): GuardedFetchOptions {
  const named = [serverUrl, authorizationServer].filter((url) => url !== undefined);
  return { allowInsecure, allowLoopback: named.some((url) => isLoopbackHost(new URL(url).hostname)) };
}
