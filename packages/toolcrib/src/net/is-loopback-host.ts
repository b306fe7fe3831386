/**
 * Whether a URL's `hostname` is this machine. The URL parser has already turned every other spelling of an IPv4 address
 * (`127.1`, `0x7f000001`) into four decimal numbers, so only the plain forms remain.
 */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
}
