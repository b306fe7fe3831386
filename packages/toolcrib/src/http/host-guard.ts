import { CribError } from '../model/crib-error.ts';
import { isLoopbackHost } from '../net/is-loopback-host.ts';

export interface HostGuardConfig {
  /** The address the server is bound to. */
  host: string;
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
}

/**
 * Refuses requests that a browser was tricked into sending: a foreign name that resolves to us (DNS rebinding), or a page of another
 * origin. Returns what is wrong, or undefined.
 */
export function createHostGuard(config: HostGuardConfig): (host: string | undefined, origin: string | undefined) => CribError | undefined {
  const hosts = new Set([config.host, ...config.allowedHosts].map((host) => host.toLowerCase()));
  const origins = new Set(config.allowedOrigins.map((origin) => origin.toLowerCase()));
  /** Almost every request carries a Host header seen before. */
  const known = new Map<string, boolean>();

  function allows(host: string): boolean {
    const url = URL.parse(`http://${host}`);
    if (url === null || url.pathname !== '/' || url.username !== '') return false;
    const name = url.hostname.toLowerCase();
    return isLoopbackHost(name) || hosts.has(name) || hosts.has(url.host.toLowerCase()) || hosts.has(name.replaceAll(/^\[|\]$/g, ''));
  }

  return (host, origin) => {
    let allowed = host === undefined ? false : known.get(host);
    if (allowed === undefined) {
      allowed = allows(host ?? '');
      if (known.size > 1000) known.clear();
      known.set(host ?? '', allowed);
    }
    if (!allowed) {
      return new CribError('FORBIDDEN', 'This server does not answer under that Host; the operator may add it with --allowed-host');
    }
    if (origin !== undefined && !sameOrigin(origin, host ?? '') && !origins.has(origin.toLowerCase())) {
      return new CribError('FORBIDDEN', 'Pages of that Origin may not use this server; the operator may add it with --allowed-origin');
    }
    return undefined;
  };
}

function sameOrigin(origin: string, host: string): boolean {
  return URL.parse(origin)?.host === host.toLowerCase();
}
