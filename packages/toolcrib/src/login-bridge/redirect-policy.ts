const loopback = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** Schemes that browsers and systems handle themselves, some of them by running or showing what follows. */
const notOfApps = new Set([
  'javascript', 'data', 'vbscript', 'file', 'blob', 'about', 'filesystem', 'view-source', 'ws', 'wss', 'ftp', 'ftps', 'mailto', 'tel', 'sms',
  'ssh', 'sftp', 'telnet', 'ldap', 'ldaps', 'smb', 'nfs', 'dav', 'chrome', 'chrome-extension', 'moz-extension', 'edge', 'resource', 'jar',
  'intent', 'content', 'ms-msdt', 'search-ms', 'ms-settings', 'shell', 'urn', 'cid', 'mid', 'gopher', 'dict', 'irc', 'news', 'nntp',
]); // prettier-ignore

/**
 * [LOGIN-3] Why a client may not be sent back to an address, or undefined where it may: https, http on the person's own machine (RFC 8252
 * §7.3), or the scheme of an app on it (§7.1).
 */
export function redirectRefusal(uri: string): string | undefined {
  // The URL parser would drop some of these without a word.
  if (!/^[\x21-\x7e]+$/.test(uri)) return 'must not contain spaces or control characters';
  const url = URL.parse(uri);
  if (url === null) return 'must be a whole address';
  if (url.href.includes('#')) return 'must not have a fragment';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  const scheme = url.protocol.slice(0, -1);
  if (scheme === 'https') return loopback.has(url.hostname) ? 'must be http where it is an address of this machine' : undefined;
  if (scheme === 'http') return loopback.has(url.hostname) ? undefined : 'must be https: plain http is for addresses of this machine only';
  if (notOfApps.has(scheme)) return `must not use the scheme ${scheme}`;
  return /^[a-z][a-z0-9.+-]{1,99}$/.test(scheme) ? undefined : 'must use the scheme of an app';
}

/** Where a redirect address leads, for a person to read. */
export function redirectTarget(uri: string): { kind: 'web' | 'machine' | 'app'; name: string } {
  const url = new URL(uri);
  if (url.protocol === 'https:') return { kind: 'web', name: url.host };
  if (url.protocol === 'http:') return { kind: 'machine', name: url.hostname };
  return { kind: 'app', name: `${url.protocol.slice(0, -1)}:` };
}
